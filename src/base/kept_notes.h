/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of a recording that its trace has to tell, too: who has only the file must learn that a
 * process had no names, or that a probe was not put.
 *
 * The problem. Such messages come from deep inside (a table is full, a map of a JIT cannot be
 * read), from code that has no trace at hand, and some come before the trace has begun. So they are
 * printed at once, and wait here until the recorder of this process takes them:
 *
 *	note_kept("process %u ...", pid)	anywhere in that process, in any thread
 *	kept_note_take(text)			the recorder, again and again
 *
 * Limits. KEPT_NOTES may wait; those that find no room are only printed, and counted. What helper
 * processes print stays with them.
 */
#pragma once

#include <stdbool.h>

#define KEPT_NOTES 64
#define KEPT_NOTE_MAX 512

/* note() that is kept, under -q as well. */
void note_kept(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The oldest one that waits, or how many found no room. false: there is nothing more to tell. */
bool kept_note_take(char text[KEPT_NOTE_MAX]);
