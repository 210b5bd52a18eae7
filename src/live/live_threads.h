/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a recording as they are now (thread_rows.h), for a page that knows what was said
 * of them before: only what has changed since is said again. How long a thread has waited changes
 * all the time, so the time when it last ran is said instead.
 *
 *	live_threads_update(&t, &in, version)	1: something has changed; 0: nothing; -ENOMEM
 *	live_threads_put(&t, since, out)	rows that changed after this version
 *	live_threads_release(&t)		all zero before and after
 *
 * A row is:
 *
 *	thread		uv, index in the page
 *	state		uv, enum task_state plus 1; 0: it is gone, and no more is said of it
 *	cpu		uv, of the last seconds in tenths of a percent, plus 1; 0: not known
 *	ran		uv, 1: sv follows, in ms since the page's beginning; 0: it runs, or that is
 *			not known
 *	owner		uv, tid of the thread that holds what it waits for; 0: not known
 *	stack		uv, plus 1; 0: not known
 *	texts		for what it waits, function of the program, function of the kernel: each uv
 *			bytes, then these
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buf;
struct live_profile;
struct live_stacks;
struct syscall_names;

struct live_thread {
	uint8_t state;			/* plus 1; 0: it is gone */
	uint16_t cpu;
	int64_t ran_ms;
	bool has_ran;
	uint32_t owner, stack;
	char *texts[3];			/* NULL: "" */
	uint64_t told;			/* hash of what the texts are made of */
	uint64_t changed;		/* version; 0: it never was there */
	uint64_t serial;		/* of the update in which it was seen last */
};

struct live_threads {
	struct live_thread *v;		/* by thread of the page */
	size_t nr, cap;
	uint64_t serial;
};

struct live_threads_input {
	const struct live_profile *l;
	const struct syscall_names *calls;
	uint64_t base_ns;		/* CLOCK_MONOTONIC of the page's beginning */
	/* By id of the record: its index in the page, plus 1; 0: it is not there. */
	const uint32_t *thread_of;
	size_t nr_thread_of;
	struct live_stacks *stacks;
};

int live_threads_update(struct live_threads *t, const struct live_threads_input *in,
			uint64_t version);
void live_threads_put(const struct live_threads *t, uint64_t since, struct byte_buf *out);
void live_threads_release(struct live_threads *t);
