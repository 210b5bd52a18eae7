/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report shows in place of the user frames that are not there. */
#pragma once

#include <stdbool.h>

#define STACK_NOTE_MAX 64

/*
 * A frame that stands at the root side of a user stack that is not whole: "[truncated: no-fde]",
 * or, when nothing is known of it, "[no-mapping]". NULL when nothing is missing: it is whole, or
 * was not asked for, or the thread has none, or nobody can tell (frame pointers alone). The text is
 * in buf.
 */
const char *stack_note(unsigned end, bool has_frames, char buf[STACK_NOTE_MAX]);
