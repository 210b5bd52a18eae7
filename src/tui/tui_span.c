/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_span.h"

static const struct {
	uint32_t seconds;
	const char *name;
} spans[TUI_SPANS] = {
	{ 0, "all" },
	{ 86400, "last day" },
	{ 3600, "last hour" },
	{ 600, "last 10 min" },
	{ 60, "last minute" },
	{ 30, "last 30 s" },
	{ 10, "last 10 s" },
	{ 3, "last 3 s" },
};

uint64_t tui_span_ns(uint32_t span)
{
	return span < TUI_SPANS ? spans[span].seconds * 1000000000ull : 0;
}

const char *tui_span_name(uint32_t span)
{
	return span < TUI_SPANS ? spans[span].name : "all";
}
