/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_mode.h"

#include <errno.h>
#include <string.h>

const char tui_mode_names[] = "accumulate|reset|decay";
static const char *const names[TUI_MODES] = { "accumulate", "reset", "decay" };

const char *tui_mode_name(enum tui_mode mode)
{
	return names[mode];
}

int tui_mode_of(const char *name)
{
	for (int i = 0; i < TUI_MODES; i++)
		if (!strcmp(names[i], name))
			return i;
	return -EINVAL;
}
