/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/timed_reader.h"

#include <assert.h>
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
#define CALM_NS (60 * NSEC_PER_SEC)	/* without a thread left behind: then all the time again */
#define MORE_TIMES 6			/* the time limit again, for a thread that gets no CPU */
#define MAX_PATH 64
#define LOOK_EVERY_NS NSEC_PER_SEC

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
	struct errand *next;		/* left behind before it */
};

struct timed_reader {
	struct timed_reader_options opts;
	struct errand *errand;		/* NULL: the last one was left behind */
	struct errand *left_behind;
	unsigned nr_left_behind;
	uint64_t last_hang_ns;		/* 0: none yet */
	uint64_t next_look_ns;		/* at those left behind */
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
	return timed_reader_new_with(
		&(struct timed_reader_options){ .read = read, .timeout_ms = timeout_ms });
}

struct timed_reader *timed_reader_new_with(const struct timed_reader_options *opts)
{
	struct timed_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->opts = *opts;
	r->errand = new_errand(opts->read, opts->begin);
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

static void leave_behind(struct timed_reader *r)
{
	assert(r->nr_left_behind < MAX_LEFT_BEHIND);
	r->errand->next = r->left_behind;
	r->left_behind = r->errand;
	r->errand = NULL;
	r->nr_left_behind++;
	r->last_hang_ns = now_ns();
}

/* How long to wait for the next answer. */
static int patience_ms(const struct timed_reader *r)
{
	bool is_calm = !r->last_hang_ns || now_ns() - r->last_hang_ns >= CALM_NS;

	return is_calm ? r->opts.timeout_ms : (r->opts.timeout_ms + 9) / 10;
}

/* Ends the threads that were left behind and have returned since. */
static void take_back(struct timed_reader *r)
{
	struct errand **at = &r->left_behind, *e;
	uint64_t now = now_ns();

	if (now < r->next_look_ns)
		return;
	r->next_look_ns = now + LOOK_EVERY_NS;
	while ((e = *at)) {
		if (!worker_reap(e->thread)) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		worker_pool_free(e->thread);
		if (e->text && r->opts.drop)
			r->opts.drop(e->path, e->text);
		else
			free(e->text);
		free(e);
		assert(r->nr_left_behind);
		r->nr_left_behind--;
	}
}

ssize_t timed_reader_get(struct timed_reader *r, const char *path, size_t max, char **text)
{
	struct errand *e;

	*text = NULL;
	take_back(r);
	e = r->errand;
	if (!e && r->nr_left_behind == MAX_LEFT_BEHIND)
		return -EBUSY;
	if (!e)
		e = r->errand = new_errand(r->opts.read, r->opts.begin);
	if (!e)
		return -ENOMEM;
	if (snprintf(e->path, sizeof(e->path), "%s", path) >= MAX_PATH)
		return -ENAMETOOLONG;
	e->max = max;
	worker_submit(e->thread, &e->job);
	if (!comes_back(e, patience_ms(r))) {
		leave_behind(r);
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
