/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few threads that do slow pure work (parse an ELF file) away from the thread that owns all
 * state.
 *
 *	worker_pool_new(n)		n >= 1 threads
 *	worker_submit(p, job)		queues; job is embedded in the caller's struct and stays the
 *					caller's
 *	worker_hurry(p, job, priority)	gives a job that has not begun yet another priority
 *	worker_fd(p)			readable (poll) when some job is finished
 *	worker_reap(p)			calls job->done in the calling thread for all finished jobs
 *	worker_wait(p)			reap until nothing is queued or running
 *	worker_pool_free(p)		waits for running jobs, which may look at job->unwanted;
 *					those still queued are cancelled: done is called for every
 *					one, with cancelled set
 *
 * run() is called in a worker thread and must touch nothing but its own job; done() in the owner's
 * thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct worker_pool;

struct worker_job {
	void (*run)(struct worker_job *job);
	void (*done)(struct worker_job *job, bool cancelled);
	int priority;			/* smaller first; equal: first come, first served */
	const atomic_bool *unwanted;	/* set by worker_submit: becomes true when the pool waits
					   for nothing but run()'s end */
	struct worker_job *next;	/* internal */
};

struct worker_pool *worker_pool_new(unsigned nr_threads);	/* NULL: no memory or no threads */
void worker_submit(struct worker_pool *p, struct worker_job *job);
void worker_hurry(struct worker_pool *p, struct worker_job *job, int priority);
int worker_fd(const struct worker_pool *p);
unsigned worker_reap(struct worker_pool *p);			/* number of jobs reaped */
void worker_wait(struct worker_pool *p);
void worker_pool_free(struct worker_pool *p);			/* NULL is fine */
