/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often memory was refused.
 *
 * The problem. A recording goes on when memory for a name, a table or one stack is refused: the
 * next request may succeed, and what it has is worth keeping. But then the result lacks something,
 * and there are too many such places for a message in each.
 *
 * The idea. The linker routes each malloc(), calloc(), realloc() and strdup() of probee's own code
 * through src/base/memory_wrap.c (--wrap, see Makefile), which counts refusals. main.c says at the
 * end that something may be missing, and the recorder writes it into the trace.
 *
 * Limits. Requests of shared libraries do not pass there: memory_refused() is for callers who learn
 * of one. Tests and fuzzers are linked without the wrappers, so they count only those.
 */
#pragma once

/*
 * Gives memory back to the system soon after it was freed, at the price of some system calls: for a
 * recording, which reads one large table after the other for a long time, in several threads and in
 * processes that it forks.
 */
void memory_be_frugal(void);

/*
 * Keeps up to 4 MiB of what was freed: for a view, which builds the same trees again for each
 * picture. Without it a third of the time for a picture goes into pages that the kernel clears.
 */
void memory_keep_freed(void);

/* Gives back what was freed between pieces that are in use: after a lot was freed at once. */
void memory_give_back(void);

unsigned long memory_refusals(void);	/* so far */
void memory_refused(void);		/* once more */
