/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds the locks of a runtime (a Java monitor, for example) that threads wait for. The kernel
 * sees only that they sleep, and the memory of the futex does not name an owner. The runtime's own
 * structures do.
 *
 * The problem. It has to be read from the memory of the process, and reading may block for ever. A
 * thread that does not run any more is met again and again, and must not cost a look each time.
 *
 * The idea. Rows of such threads are kept until the scan is over. Then one look at each process, in
 * a thread that reads through a child which can be left behind (memory_reader.h), answers for all
 * of them. The scan waits for the looks, for LOOK_PATIENCE_NS at most. The row of a thread that has
 * not run since keeps its answer.
 *
 *	runtime_locks_new(&deps, &l)
 *	runtime_locks_are_known(l, p)		rows of its threads in futex() are to be kept
 *	runtime_locks_are_unanswered(l, p)	rows that are the last ones again, too
 *	runtime_locks_ask(l, questions, nr)	when the scan is over: fills in .owner
 *	runtime_locks_free(l)
 *
 * Limits: looks at a process take 5 % of the time at most: one that comes too early is left out,
 * and its rows are asked about in a later scan. LOCKS_PROCESSES processes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOK_PATIENCE_NS 100000000ull
#define LOCKS_PROCESSES 256

struct child_forker;
struct user_costs;
struct process;
struct process_runtimes;
struct runtime_locks;

struct runtime_locks_deps {
	struct process_runtimes *runtimes;	/* NULL: none is known */
	void (*begin_thread)(void);		/* gives up the rights of the thread */
	struct child_forker *forker;	/* of who reads memory */
	struct user_costs *costs;	/* of memory_reader_new() */
};

struct lock_question {
	const struct process *process;	/* NULL: it is gone */
	uint32_t tid;
	uint32_t owner;			/* number in the PID namespace of the process; 0: unknown */
};

struct runtime_locks_stats {
	uint64_t looks, failed, late;	/* late: the scan could not wait for it */
	uint64_t took_ns;		/* of all */
};

int runtime_locks_new(const struct runtime_locks_deps *deps, struct runtime_locks **lp);
void runtime_locks_free(struct runtime_locks *l);	/* NULL is fine */

bool runtime_locks_are_known(const struct runtime_locks *l, const struct process *p);
bool runtime_locks_are_unanswered(const struct runtime_locks *l, const struct process *p);

/* The questions of a process come one after the other. */
void runtime_locks_ask(struct runtime_locks *l, struct lock_question *questions, size_t nr);
void runtime_locks_stats(const struct runtime_locks *l, struct runtime_locks_stats *out);
