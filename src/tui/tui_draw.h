/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole screen: two lines above the view that is chosen, and one below it. */
#pragma once

struct tui;

/* To t->canvas; t->is_unfinished says whether more is to be drawn soon. */
void tui_draw(struct tui *t);
