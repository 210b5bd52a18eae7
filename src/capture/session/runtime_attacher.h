/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at processes whose runtime tells only when it runs where its frames are
 * (runtime_is_attached_late()): reads that from their memory, again and again while they start.
 * Reading may block, so a thread does it, through a child that can be left behind
 * (memory_reader.h).
 *
 *	runtime_attacher_new(&deps, &a)
 *	runtime_attacher_poll(a, wait)	now and then: begins to read what is due, takes what was
 *					read
 *	runtime_attacher_free(a)
 */
#pragma once

#include <stdint.h>

struct child_forker;
struct user_costs;
struct patience;
struct process_runtimes;
struct processes;
struct runtime_attacher;

struct runtime_attacher_deps {
	struct process_runtimes *runtimes;	/* NULL: nothing is done */
	const struct processes *processes;
	void (*begin_thread)(void);	/* makes the thread urgent, gives up its rights */
	struct child_forker *forker;	/* of who reads memory */
	struct user_costs *costs;	/* of memory_reader_new() */
};

int runtime_attacher_new(const struct runtime_attacher_deps *deps, struct runtime_attacher **ap);
void runtime_attacher_free(struct runtime_attacher *a);	/* NULL is fine */

/*
 * wait: when the recording begins, until what has been begun was read once, but not until runtimes
 * have started. NULL: does not wait.
 */
void runtime_attacher_poll(struct runtime_attacher *a, struct patience *wait);

/* Becomes readable when something was read, and it is to be called; -1: never. */
int runtime_attacher_fd(const struct runtime_attacher *a);

/* When it is to be called next, CLOCK_MONOTONIC; UINT64_MAX: nothing is due. */
uint64_t runtime_attacher_next_ns(const struct runtime_attacher *a);
