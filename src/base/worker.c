/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/worker.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/base/quiet_thread.h"

struct worker_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct worker_job *queued;		/* by priority */
	struct worker_job *last;		/* of queued; NULL: unknown, or none is queued */
	struct worker_job *finished, **finished_tail;
	unsigned nr_open;			/* queued, running or finished but not reaped */
	bool stop;
	atomic_bool unwanted;
	void (*begin)(void);			/* of each thread; NULL: nothing */
	int event_fd;
	unsigned nr_threads;
	pthread_t threads[];
};

static void finish(struct worker_pool *p, struct worker_job *job)
{
	uint64_t one = 1;

	pthread_mutex_lock(&p->lock);
	job->next = NULL;
	*p->finished_tail = job;
	p->finished_tail = &job->next;
	pthread_mutex_unlock(&p->lock);
	if (write(p->event_fd, &one, sizeof(one)) < 0)
		return;		/* the counter is full, so the descriptor is readable anyway */
}

static struct worker_job *next_job(struct worker_pool *p)
{
	struct worker_job *job;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && !p->queued)
		pthread_cond_wait(&p->work, &p->lock);
	job = p->stop ? NULL : p->queued;
	if (job)
		p->queued = job->next;
	if (!p->queued)
		p->last = NULL;
	pthread_mutex_unlock(&p->lock);
	return job;
}

static void *worker_main(void *arg)
{
	struct worker_pool *p = arg;
	struct worker_job *job;

	if (p->begin)
		p->begin();
	while ((job = next_job(p))) {
		job->run(job);
		finish(p, job);
	}
	return NULL;
}

static bool start_threads(struct worker_pool *p, unsigned nr)
{
	while (p->nr_threads < nr &&
	       !quiet_thread_start(&p->threads[p->nr_threads], worker_main, p))
		p->nr_threads++;
	return p->nr_threads > 0;
}

struct worker_pool *worker_pool_new(unsigned nr)
{
	return worker_pool_new_with(nr, NULL);
}

struct worker_pool *worker_pool_new_with(unsigned nr, void (*begin)(void))
{
	struct worker_pool *p = calloc(1, sizeof(*p) + nr * sizeof(p->threads[0]));

	assert(nr);
	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	p->finished_tail = &p->finished;
	p->begin = begin;
	p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->event_fd < 0 || !start_threads(p, nr)) {
		worker_pool_free(p);
		return NULL;
	}
	return p;
}

/* Puts job into the queue, behind all of the same priority. The caller holds the lock. */
static void enqueue(struct worker_pool *p, struct worker_job *job)
{
	struct worker_job **at = &p->queued;

	if (p->last && p->last->priority <= job->priority)
		at = &p->last->next;		/* the usual case; thousands may be queued */
	while (*at && (*at)->priority <= job->priority)
		at = &(*at)->next;
	job->next = *at;
	*at = job;
	if (!job->next)
		p->last = job;
}

void worker_submit(struct worker_pool *p, struct worker_job *job)
{
	job->unwanted = &p->unwanted;
	pthread_mutex_lock(&p->lock);
	enqueue(p, job);
	p->nr_open++;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}

void worker_hurry(struct worker_pool *p, struct worker_job *job, int priority)
{
	struct worker_job **at;

	pthread_mutex_lock(&p->lock);
	for (at = &p->queued; *at && *at != job; at = &(*at)->next)
		;
	if (*at) {
		*at = job->next;
		if (p->last == job)
			p->last = NULL;
		job->priority = priority;
		enqueue(p, job);
	}
	pthread_mutex_unlock(&p->lock);
}

int worker_fd(const struct worker_pool *p)
{
	return p->event_fd;
}

unsigned worker_reap(struct worker_pool *p)
{
	struct worker_job *job, *next;
	unsigned nr = 0;
	uint64_t n;

	if (read(p->event_fd, &n, sizeof(n)) < 0)
		return 0;	/* no job has finished since the last call */
	pthread_mutex_lock(&p->lock);
	job = p->finished;
	p->finished = NULL;
	p->finished_tail = &p->finished;
	pthread_mutex_unlock(&p->lock);
	for (; job; job = next, nr++) {
		next = job->next;
		job->done(job, false);
	}
	pthread_mutex_lock(&p->lock);
	assert(nr <= p->nr_open);
	p->nr_open -= nr;
	pthread_mutex_unlock(&p->lock);
	return nr;
}

void worker_unwanted(struct worker_pool *p)
{
	atomic_store(&p->unwanted, true);
}

void worker_wait(struct worker_pool *p)
{
	struct pollfd pfd = { .fd = p->event_fd, .events = POLLIN };

	for (;;) {
		bool idle;

		worker_reap(p);
		pthread_mutex_lock(&p->lock);
		idle = !p->nr_open;
		pthread_mutex_unlock(&p->lock);
		if (idle)
			return;
		poll(&pfd, 1, -1);
	}
}

static void cancel_list(struct worker_job *job, bool cancelled)
{
	struct worker_job *next;

	for (; job; job = next) {
		next = job->next;
		job->done(job, cancelled);
	}
}

void worker_pool_free(struct worker_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	atomic_store(&p->unwanted, true);	/* the lock keeps who sees it from another job */
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->nr_threads; i++)
		pthread_join(p->threads[i], NULL);
	cancel_list(p->finished, false);
	cancel_list(p->queued, true);
	if (p->event_fd >= 0)
		close(p->event_fd);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
