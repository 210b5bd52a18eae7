/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that a report shows in place of missing user frames. It has two forms: the one that the
 * tree has, and files for other programs, which stays the same from version to version:
 *
 *	[truncated: no-fde]		[no-mapping]
 *
 * and the one for people, in text, on the terminal, in pictures and pages:
 *
 *	[cut: no unwind table for this address]		[no stack: an address in no known file]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct definition_store;

#define STACK_NOTE_MAX 64

/*
 * A frame to show at the root side of a user stack that is not whole: "[truncated: no-fde]", or
 * "[no-mapping]" if it has no frames at all. NULL when nothing is missing: the stack is whole, or
 * was not asked for, or the thread has none, or it cannot be told (frame pointers alone). The text
 * is in buf.
 */
const char *stack_note(unsigned end, bool has_frames, char buf[STACK_NOTE_MAX]);

/* The form for people of such a frame, in buf, and its length; 0: the name is no such frame. */
size_t stack_note_shown(const char *name, size_t len, char buf[STACK_NOTE_MAX]);

/* A frame to show for the stacks of a thread that had nothing to do: "[idle: events]". */
const char *stack_note_idle(unsigned idle, char buf[STACK_NOTE_MAX]);

/*
 * A frame to show for the stacks of a sample if all of their frames are left out, "[hidden]"; NULL:
 * some frame is shown, or there are no stacks.
 */
const char *stack_note_hidden(const struct definition_store *t, uint32_t ustack, uint32_t kstack);
