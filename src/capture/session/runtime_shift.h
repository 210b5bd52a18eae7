/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives frames of interpreters whose loops have one frame each (CPython 3.8 to 3.10) to the right
 * loops.
 *
 * The problem. Nothing tells which loop such a frame belongs to, so the innermost loop gets the
 * innermost frame, and so on. A loop that was interrupted before it has entered its frame into the
 * list, or after it has taken it out, has none: then each frame is one loop too far in.
 *
 * The idea. In such a stack the outermost loop is left without a frame:
 *
 *	inner loop	f	instead of	inner loop
 *	middle loop	main			middle loop	f
 *	outer loop				outer loop	main
 *
 * Limits. It must be known that all loops were met: the stack has to lead to its root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct process_runtimes;

/*
 * words: those of a user stack that leads to its root, innermost first, at most UNWIND_MAX_FRAMES.
 * true: out has as many words, and is right; false: words are.
 */
bool runtime_shift(struct process_runtimes *r, const struct process *p, const uint64_t *words,
		   size_t nr, uint64_t *out);
