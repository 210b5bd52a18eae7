/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing what is seen to a file. A renderer that draws a call tree gets the tree of the view. One
 * that needs the samples gets them from the trace, which is read once more beside the view.
 */
#pragma once

#include <stdbool.h>

struct tui;

/*
 * Writes what is seen to a file, in the format that its name says, or begins to; says what became
 * of it.
 */
void tui_export(struct tui *t, const char *path);
/* Says how far a file is that is being written. False: nothing is new. */
bool tui_export_news(struct tui *t);
/* A key while a file is being written: Esc ends that. False: the key is for others. */
bool tui_export_key(struct tui *t, int key);
