/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All views of the terminal, in the order of their tabs. */
#pragma once

#include "src/tui/tui_view.h"

#define TUI_VIEWS 7
extern const struct tui_view *const tui_views[TUI_VIEWS];

extern const char tui_view_names[];	/* "processes|flame|...", for options and completion */
bool tui_has_view(const char *name);
/* The view of this name; the flame graph if there is none, or for NULL. */
const struct tui_view *tui_views_find(const char *name);
