/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which unwind tables are built first (table_store.h). Other jobs have priority 0. */
#pragma once

#include <stdbool.h>

#include "src/model/binary.h"
#include "src/runtimes/runtime.h"

#define PRIORITY_WANTED -100		/* a stack waits for it, or soon will */
#define PRIORITY_TABLE -50
#define INTERPRETER_BYTES (256u << 20)	/* those that are larger are built page by page */

/*
 * The priority of a table that no stack waits for. The smaller of two files comes first, so that a
 * huge one does not delay the others.
 */
static inline int table_priority_of(const struct binary *b)
{
	int megabytes_log2 = 0;

	while (megabytes_log2 < 40 && b->size_bytes >> (20 + megabytes_log2))
		megabytes_log2++;
	return PRIORITY_TABLE + megabytes_log2;
}

/*
 * A stack that waits for a page has a mark instead of interpreted frames, whose memory it does not
 * come with. So the table of an interpreter is built as a whole, before a stack needs it. Its name
 * need only be a guess.
 */
static inline bool table_is_of_interpreter(const struct binary *b)
{
	return runtime_is_likely(b->path) && b->size_bytes < INTERPRETER_BYTES;
}
