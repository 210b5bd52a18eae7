/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few threads that do slow work (parse an ELF file) for the thread that owns all state.
 *
 * The problem. Building the unwind table or reading the symbols of a large file takes long, and the
 * recording must not stand still meanwhile. But the state of a recording has no locks, because one
 * thread owns all of it.
 *
 * The idea. A job is split in two. run() is called in a worker thread: it is slow and touches
 * nothing but its own job. done() is called in the owner's thread, from worker_reap(): it is quick
 * and may touch everything. So all state changes between two lines of the owner's own code, and the
 * only lock is inside the pool. An eventfd tells the owner's poll() that jobs are finished.
 *
 *	owner's thread			worker thread
 *	worker_submit(p, &b->job)
 *	...				b->job.run(): parses b->path into b->table
 *	poll() returns
 *	worker_reap(p)
 *	  b->job.done(): b->table is ready to be used
 *
 * Limits. A job that runs cannot be stopped; it can only look at *job->unwanted now and then and
 * return early. One that has begun when the pool is freed is waited for, and its done() is called
 * with cancelled unset.
 *
 *	worker_pool_new(n)		n >= 1 threads
 *	worker_pool_new_with(n, begin)	each thread first calls begin(): to give up rights, which
 *					belong to threads
 *	worker_submit(p, job)		queues a job; it is embedded in a struct of the caller, who
 *					keeps it until done() is called
 *	worker_hurry(p, job, priority)	changes the priority of a job that has not begun yet
 *	worker_fd(p)			becomes readable (poll) when a job is finished
 *	worker_reap(p)			calls done() for every finished job
 *	worker_unwanted(p)		sets *job->unwanted of all jobs, queued ones too
 *	worker_wait(p)			reaps until no job is queued or running
 *	worker_pool_free(p)		sets *job->unwanted, waits for running jobs and calls done()
 *					for all; those that were still queued are cancelled
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct worker_pool;

struct worker_job {
	void (*run)(struct worker_job *job);
	void (*done)(struct worker_job *job, bool cancelled);
	int priority;			/* smaller ones first; equal ones in order of submission */
	/* Set by worker_submit(). Becomes true when the pool only waits for run() to return. */
	const atomic_bool *unwanted;
	struct worker_job *next;	/* internal */
};

/* NULL: no memory, or no thread could be started. */
struct worker_pool *worker_pool_new(unsigned nr_threads);
struct worker_pool *worker_pool_new_with(unsigned nr_threads, void (*begin)(void));
void worker_submit(struct worker_pool *p, struct worker_job *job);
void worker_hurry(struct worker_pool *p, struct worker_job *job, int priority);
int worker_fd(const struct worker_pool *p);
unsigned worker_reap(struct worker_pool *p);			/* number of jobs reaped */
void worker_unwanted(struct worker_pool *p);
void worker_wait(struct worker_pool *p);
void worker_pool_free(struct worker_pool *p);			/* NULL is fine */
