/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "src/base/worker.h"

#define NR 1000

struct job {
	struct worker_job base;		/* first: a job is its worker_job */
	struct log *log;
	int number;
	bool ran, done, cancelled;
};

struct log {
	sem_t gate;			/* 0 while jobs have to wait; they also exclude each other */
	sem_t begun;			/* one for each job that a thread has begun */
	pthread_t owner;
	int order[NR];			/* numbers in the order of run(); one worker thread only */
	int nr_run, nr_done;
	bool done_elsewhere;		/* done() was called outside the owner's thread */
};

static void run(struct worker_job *base)
{
	struct job *j = (struct job *)base;

	sem_post(&j->log->begun);
	sem_wait(&j->log->gate);
	j->log->order[j->log->nr_run++] = j->number;
	sem_post(&j->log->gate);
	j->ran = true;
}

static void done(struct worker_job *base, bool cancelled)
{
	struct job *j = (struct job *)base;

	j->log->done_elsewhere |= !pthread_equal(pthread_self(), j->log->owner);
	j->log->nr_done++;
	assert_false(j->done);
	j->done = true;
	j->cancelled = cancelled;
}

static void log_init(struct log *log)
{
	*log = (struct log){ .owner = pthread_self() };
	sem_init(&log->gate, 0, 1);
	sem_init(&log->begun, 0, 0);
}

static struct job *jobs_make(struct log *log)
{
	struct job *jobs = calloc(NR, sizeof(*jobs));

	log_init(log);
	for (int i = 0; i < NR; i++) {
		jobs[i].base = (struct worker_job){ .run = run, .done = done };
		jobs[i].log = log;
		jobs[i].number = i;
	}
	return jobs;
}

static void test_all_jobs_are_done(void **state)
{
	struct worker_pool *p = worker_pool_new(3);
	struct log log;
	struct job *jobs = jobs_make(&log);

	(void)state;
	for (int i = 0; i < NR; i++)
		worker_submit(p, &jobs[i].base);
	worker_wait(p);
	assert_int_equal(log.nr_run, NR);
	assert_int_equal(log.nr_done, NR);
	assert_false(log.done_elsewhere);
	worker_wait(p);				/* nothing open: returns at once */
	worker_pool_free(p);
	assert_int_equal(log.nr_done, NR);
	free(jobs);
}

static void test_fd_tells_when_to_reap(void **state)
{
	struct worker_pool *p = worker_pool_new(1);
	struct pollfd pfd = { .fd = worker_fd(p), .events = POLLIN };
	struct log log;
	struct job *jobs = jobs_make(&log);

	(void)state;
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(worker_reap(p), 0);
	worker_submit(p, &jobs[0].base);
	assert_int_equal(poll(&pfd, 1, 10000), 1);
	assert_int_equal(log.nr_done, 0);	/* done() waits for the owner */
	assert_int_equal(worker_reap(p), 1);
	assert_int_equal(log.nr_done, 1);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	worker_pool_free(p);
	free(jobs);
}

static void test_priorities(void **state)
{
	static const int want[] = { 0, 3, 4, 1, 2, 5 };
	struct worker_pool *p = worker_pool_new(1);
	struct log log;
	struct job *jobs = jobs_make(&log);

	(void)state;
	sem_init(&log.gate, 0, 0);
	worker_submit(p, &jobs[0].base);
	sem_wait(&log.begun);			/* job 0 is running now, held by the gate */
	for (int i = 1; i < 6; i++) {
		jobs[i].base.priority = i == 3 || i == 4 ? -1 : i == 5 ? 7 : 0;
		worker_submit(p, &jobs[i].base);
	}
	sem_post(&log.gate);
	worker_wait(p);
	assert_memory_equal(log.order, want, sizeof(want));
	worker_pool_free(p);
	free(jobs);
}

static void test_hurry(void **state)
{
	static const int want[] = { 0, 4, 1, 2, 3 };
	struct worker_pool *p = worker_pool_new(1);
	struct log log;
	struct job *jobs = jobs_make(&log);

	(void)state;
	sem_init(&log.gate, 0, 0);
	for (int i = 0; i < 5; i++)
		worker_submit(p, &jobs[i].base);
	sem_wait(&log.begun);
	worker_hurry(p, &jobs[4].base, -1);
	worker_hurry(p, &jobs[0].base, -1);	/* is running: nothing to do */
	sem_post(&log.gate);
	worker_wait(p);
	assert_memory_equal(log.order, want, sizeof(want));
	worker_pool_free(p);
	free(jobs);
}

/* Opens the gate once the pool wants nothing more of the job that is held there. */
static void *open_gate_when_unwanted(void *job)
{
	struct job *j = job;

	while (!atomic_load(j->base.unwanted))
		usleep(100);
	sem_post(&j->log->gate);
	return NULL;
}

static void test_free_cancels_what_is_queued(void **state)
{
	struct worker_pool *p = worker_pool_new(1);
	struct log log;
	struct job *jobs = jobs_make(&log);
	int cancelled = 0;
	pthread_t opener;

	(void)state;
	/* The pool is asked to stop while job 0 is held. */
	sem_init(&log.gate, 0, 0);
	for (int i = 0; i < 10; i++)
		worker_submit(p, &jobs[i].base);
	sem_wait(&log.begun);
	assert_int_equal(pthread_create(&opener, NULL, open_gate_when_unwanted, &jobs[0]), 0);
	worker_pool_free(p);
	pthread_join(opener, NULL);
	for (int i = 0; i < 10; i++) {
		assert_true(jobs[i].done);
		assert_int_equal(jobs[i].cancelled, !jobs[i].ran);
		cancelled += jobs[i].cancelled;
	}
	assert_true(jobs[0].ran);
	assert_int_equal(cancelled, 9);
	free(jobs);
}

/* Works until nobody waits for it: without the flag it would do so for ever. */
static void run_until_unwanted(struct worker_job *base)
{
	struct job *j = (struct job *)base;

	j->ran = true;
	sem_post(&j->log->gate);
	while (!atomic_load(base->unwanted))
		usleep(100);
}

static void test_running_job_learns_that_it_is_unwanted(void **state)
{
	struct worker_pool *p = worker_pool_new(1);
	struct log log;
	struct job job = { .base = { .run = run_until_unwanted, .done = done }, .log = &log };

	(void)state;
	log_init(&log);
	sem_wait(&log.gate);
	worker_submit(p, &job.base);
	sem_wait(&log.gate);
	assert_false(atomic_load(job.base.unwanted));
	worker_pool_free(p);
	assert_true(job.ran);
	assert_true(job.done);
	assert_false(job.cancelled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_jobs_are_done),
		cmocka_unit_test(test_fd_tells_when_to_reap),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_hurry),
		cmocka_unit_test(test_free_cancels_what_is_queued),
		cmocka_unit_test(test_running_job_learns_that_it_is_unwanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
