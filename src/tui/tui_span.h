/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lengths of time that [ and ] choose from: of these, the last part of a recording is shown. */
#pragma once

#include <stdint.h>

#define TUI_SPANS 8
uint64_t tui_span_ns(uint32_t span);		/* 0: all */
const char *tui_span_name(uint32_t span);	/* "last 30 s", "all" */
