/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of generated code of other processes, for stacks that are unwound outside of the kernel.
 *
 * The problem. Whether a word of a stack is a return address is seen in the code before it. That
 * code is in the memory of another process, and to read that may block.
 *
 * The idea. A thread reads (memory_reader.h). What is asked for and is not there yet is wanted from
 * then on; the stack that asked waits for it, and asks again. What was read counts for the stacks
 * that were taken before, and for others for 0.25 s, because code changes.
 *
 * Limits: 128 pages, 64 of one process at most. What finds no room counts as not there.
 *
 *	code_pages_new(pool, memory, &cp)	pool has one thread, the only one that uses memory
 *	code_pages_get(cp, p, addr, buf, bytes, time)
 *	code_wait_lasts(&wait)			after -EAGAIN: it is still being read
 *	code_pages_free(cp)			after the pool
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_pages;
struct memory_reader;
struct process;
struct worker_pool;

/* Something is awaited until *count differs from value; count is NULL: nothing is. */
struct code_wait {
	const uint32_t *count;
	uint32_t value;
};

static inline bool code_wait_lasts(const struct code_wait *w)
{
	return w->count && *w->count == w->value;
}

int code_pages_new(struct worker_pool *pool, struct memory_reader *memory, struct code_pages **cpp);
void code_pages_free(struct code_pages *cp);		/* NULL is fine */

/*
 * 0: buf has all of the bytes as they were at time_ns or later, or not long before; -EFAULT: they
 * are not there; -EAGAIN: they are being read, and *wait says when to ask again. At most a page.
 */
int code_pages_get(struct code_pages *cp, const struct process *p, uint64_t addr, void *buf,
		   size_t bytes, uint64_t time_ns, struct code_wait *wait);
