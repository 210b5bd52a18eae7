/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/timed_reader.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/task_state.h"
#include "src/base/worker.h"

#define MAX_LEFT_BEHIND 256
#define MAX_PATIENT 4			/* left behind: then the time is a tenth */
#define MORE_TIMES 6			/* the time limit again, for a thread that gets no CPU */
#define MAX_PATH 64

/* One request and the thread that runs it. If it hangs, both are left behind together. */
struct errand {
	struct worker_job job;
	struct worker_pool *thread;
	read_file_fn read;
	_Atomic pid_t tid;		/* of the thread that reads */
	char path[MAX_PATH];
	size_t max;
	char *text;
	ssize_t len;
};

struct timed_reader {
	read_file_fn read;
	int timeout_ms;
	void (*begin)(void);
	struct errand *errand;		/* NULL: the last one was left behind */
	unsigned nr_left_behind;
};

static void run(struct worker_job *job)
{
	struct errand *e = (struct errand *)job;

	atomic_store(&e->tid, gettid());
	e->text = NULL;
	e->len = e->read(e->path, &e->text, e->max);
}

static void done(struct worker_job *job, bool cancelled)
{
	(void)job;
	(void)cancelled;
}

static struct errand *new_errand(read_file_fn read, void (*begin)(void))
{
	struct errand *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->job.run = run;
	e->job.done = done;
	e->read = read;
	e->thread = worker_pool_new_with(1, begin);
	if (e->thread)
		return e;
	free(e);
	return NULL;
}

struct timed_reader *timed_reader_new(read_file_fn read, int timeout_ms)
{
	return timed_reader_new_with(read, timeout_ms, NULL);
}

struct timed_reader *timed_reader_new_with(read_file_fn read, int timeout_ms, void (*begin)(void))
{
	struct timed_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->read = read;
	r->timeout_ms = timeout_ms;
	r->begin = begin;
	r->errand = new_errand(read, begin);
	if (r->errand)
		return r;
	free(r);
	return NULL;
}

/* Waits for the thread for timeout_ms. */
static bool returns_within(struct errand *e, int timeout_ms)
{
	struct pollfd pfd = { .fd = worker_fd(e->thread), .events = POLLIN };
	uint64_t until = now_ns() + (uint64_t)timeout_ms * NSEC_PER_MSEC;
	uint64_t now;

	while ((now = now_ns()) < until) {
		if (poll(&pfd, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) > 0 &&
		    worker_reap(e->thread))
			return true;
	}
	return worker_reap(e->thread);
}

/*
 * Waits for the thread. False: it has not returned in time. On a machine whose CPUs are busy, or in
 * a virtual one that stands still for a while, it may need longer to get a CPU at all.
 */
static bool comes_back(struct errand *e, int timeout_ms)
{
	bool back = returns_within(e, timeout_ms);

	for (int i = 0; i < MORE_TIMES && !back; i++) {
		if (!task_wants_cpu(getpid(), atomic_load(&e->tid)))
			break;
		back = returns_within(e, timeout_ms);
	}
	return back;
}

ssize_t timed_reader_get(struct timed_reader *r, const char *path, size_t max, char **text)
{
	struct errand *e = r->errand;

	*text = NULL;
	if (!e && r->nr_left_behind == MAX_LEFT_BEHIND)
		return -EBUSY;
	if (!e)
		e = r->errand = new_errand(r->read, r->begin);
	if (!e)
		return -ENOMEM;
	if (snprintf(e->path, sizeof(e->path), "%s", path) >= MAX_PATH)
		return -ENAMETOOLONG;
	e->max = max;
	worker_submit(e->thread, &e->job);
	if (!comes_back(e, r->nr_left_behind < MAX_PATIENT ? r->timeout_ms : r->timeout_ms / 10)) {
		r->errand = NULL;
		r->nr_left_behind++;
		return -ETIMEDOUT;
	}
	*text = e->text;
	return e->len;
}

void timed_reader_free(struct timed_reader *r)
{
	if (!r)
		return;
	if (r->errand)
		worker_pool_free(r->errand->thread);
	free(r->errand);
	free(r);
}
