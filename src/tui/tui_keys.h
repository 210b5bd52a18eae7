/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keys do: those that all views have, and those of the line that asks for text. The view that
 * is chosen gets a key first.
 */
#pragma once

struct mouse;
struct tui;

void tui_key(struct tui *t, int key);		/* a character, or one of tui_keycodes.h */
void tui_mouse(struct tui *t, const struct mouse *m);
