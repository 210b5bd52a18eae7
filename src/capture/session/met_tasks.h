/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many different processes and threads a recording has met, whatever parts it is divided into:
 * each part defines them anew.
 *
 *	met_tasks_process(m, p)		when a process is defined
 *	met_tasks_thread(m, p, t, comm)	when a thread is defined
 *	met_tasks_release(m)
 *
 * Threads that have ended are forgotten now and then, so memory does not grow with time: 24 bytes
 * for each thread that lives, and as much again for those that have ended since.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/model/per_process.h"

struct process;
struct rec_thread;

struct met_thread {
	uint64_t identity;		/* a hash of number, start, name and process */
	uint32_t tid;
};

/* All 0 at first. */
struct met_tasks {
	uint64_t nr_processes, nr_threads;
	struct per_process processes;
	struct met_thread *threads;
	size_t nr, cap, forget_at;
	struct hash_index index;
};

/* true: it was not met before. */
bool met_tasks_process(struct met_tasks *m, const struct process *p);
/* p: of the thread; NULL: unknown. */
void met_tasks_thread(struct met_tasks *m, const struct process *p, const struct rec_thread *t,
		      const char *comm);
void met_tasks_release(struct met_tasks *m);
