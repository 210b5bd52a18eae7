/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help that lists all keys, in place of a view. */
#pragma once

#include <stdbool.h>

#include "src/tui/tui_view.h"

#define TUI_HELP_HINT_MAX 96

void tui_help_draw(struct tui *t, struct area a);
/* Which lines are seen, and the keys that work here. */
void tui_help_hint(const struct tui *t, char buf[TUI_HELP_HINT_MAX]);
/* Scrolls in it. false: another key, which ends it. */
bool tui_help_key(struct tui *t, int key);
