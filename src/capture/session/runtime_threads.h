/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runtimes call their threads: threading.Thread.name, where the kernel only knows "python3",
 * and all of java.lang.Thread.name, of which the kernel has 15 bytes.
 *
 * The problem. The name is in the memory of the process, and reading that may block. The name may
 * come later than the thread: a runtime lists a thread some time after its begin, and the recorder
 * learns that a process has a runtime only when it has looked at the files of the process.
 *
 * The idea. Threads that a recording defines are put on a list. A look at their process, in a
 * thread that reads through a child which can be left behind (memory_reader.h), answers for all of
 * them. Those that the runtime does not know are asked about again, later and later, MAX_TRIES
 * times. Names come as definitions do that are late (THREADNAME), so all samples of a thread have
 * them, whenever they were taken. A scan waits for the names of threads that are new in it, for
 * SCAN_PATIENCE_NS at most, because its rows may be shown at once.
 *
 * Which name. The runtime's, unless it has made that up (Thread-3) while the program has given the
 * thread another one in the kernel: not that of the process, and not the beginning of the
 * runtime's. A name of which the kernel has the beginning is not that of times when it had another.
 *
 *	runtime_threads_new(&deps, &t)
 *	runtime_threads_meet(t, p, thread, tid, comm)	a thread was defined
 *	runtime_threads_scan(t)			a scan is over: looks for names, and waits a little
 *	runtime_threads_collect(t, wait)	now and then; with wait: all that can be had
 *	runtime_threads_forget(t)		ids of threads mean others from here on
 *	runtime_threads_free(t)
 *
 * Limits: a name that the program changes later stays the old one. Looks at a process take 5 % of
 * the time at most.
 */
#pragma once

#include <stdint.h>

struct child_forker;
struct patience;
struct process;
struct process_runtimes;
struct processes;
struct runtime_threads;
struct user_costs;

struct runtime_threads_deps {
	struct process_runtimes *runtimes;	/* NULL: none is known */
	const struct processes *processes;
	void (*begin_thread)(void);	/* gives up the rights of the thread */
	struct child_forker *forker;	/* of who reads memory */
	struct user_costs *costs;	/* of memory_reader_new() */
	/* The thread with that id of the trace has this name. 0 or -errno. */
	int (*name)(void *ctx, uint32_t thread, const char *name);
	void *ctx;
};

struct runtime_threads_stats {
	uint64_t named, looks, failed;
	uint64_t took_ns;		/* of all looks */
};

int runtime_threads_new(const struct runtime_threads_deps *deps, struct runtime_threads **tp);
void runtime_threads_free(struct runtime_threads *t);	/* NULL is fine */

/* Without memory it has no name. */
void runtime_threads_meet(struct runtime_threads *t, const struct process *p, uint32_t thread,
			  uint32_t tid, const char *comm);
/* Both: 0, or the -errno of deps.name(). */
int runtime_threads_scan(struct runtime_threads *t);
int runtime_threads_collect(struct runtime_threads *t, struct patience *wait);
void runtime_threads_forget(struct runtime_threads *t);
void runtime_threads_stats(const struct runtime_threads *t, struct runtime_threads_stats *out);
