/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/runtime_attacher.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/model/process.h"
#include "src/runtimes/runtime.h"

#define WAIT_MS 10
#define FIRST_NS (2 * NSEC_PER_MSEC)	/* until the next look, twice as long each time */
#define LONGEST_NS NSEC_PER_SEC
/* A JVM has its code 20 to 200 ms after its file is mapped, and a look costs it nothing. */
#define STARTING_NS (500 * NSEC_PER_MSEC)
#define STARTING_PAUSE_NS (2 * NSEC_PER_MSEC)
#define MAX_LOOKS 400
/* A file that is being relocated looks like a version that is not known. */
#define LOADING_NS NSEC_PER_SEC

/* A process. The job touches only what is above .due_ns. */
struct look {
	struct worker_job job;
	struct runtime_attacher *attacher;
	struct runtime_image image;	/* with what earlier looks have found */
	const struct runtime_image *of;	/* what it is a copy of */
	struct unwind_runtime runtime;
	uint64_t serial, bias;
	uint32_t tgid;
	int err;
	uint64_t since_ns, due_ns, pause_ns;
	unsigned looks;
	bool is_running, is_over;
	bool ran_before;		/* when the recording began */
};

struct runtime_attacher {
	struct runtime_attacher_deps deps;
	struct worker_pool *pool;	/* NULL: not needed */
	struct memory_reader *memory;	/* of its thread */
	struct look **looks;
	size_t nr_looks, cap_looks;
	size_t nr_running;
};

int runtime_attacher_new(const struct runtime_attacher_deps *deps, struct runtime_attacher **ap)
{
	struct runtime_attacher *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->deps = *deps;
	a->memory = memory_reader_new(deps->forker, deps->costs);
	/* Its thread begins while there are rights to make it urgent. */
	a->pool = deps->runtimes ? worker_pool_new_with(1, deps->begin_thread) : NULL;
	if (!a->memory || (deps->runtimes && !a->pool)) {
		runtime_attacher_free(a);
		return -ENOMEM;
	}
	*ap = a;
	return 0;
}

void runtime_attacher_free(struct runtime_attacher *a)
{
	if (!a)
		return;
	worker_pool_free(a->pool);
	memory_reader_free(a->memory);
	for (size_t i = 0; i < a->nr_looks; i++)
		free(a->looks[i]);
	free(a->looks);
	free(a);
}

static void look_run(struct worker_job *job)
{
	struct look *l = (struct look *)job;
	struct memory_of_process of = { l->attacher->memory, (pid_t)l->tgid, l->job.unwanted };
	const struct target_memory memory = { memory_of_process, &of };

	l->err = runtime_attach(&l->image, l->bias, &memory, &l->runtime);
}

/* The process of a look, as long as it has the runtime at its place. */
static const struct process *process_of(const struct look *l, const struct runtime_image **image,
					uint64_t *bias)
{
	const struct runtime_attacher_deps *d = &l->attacher->deps;
	const struct process *p = processes_find(d->processes, l->tgid, TIME_NEVER);

	*image = p && p->serial == l->serial ? process_runtimes_late_of(d->runtimes, p, bias)
					     : NULL;
	return *image ? p : NULL;
}

static uint64_t longer_pause(const struct look *l)
{
	uint64_t most = now_ns() < l->since_ns + STARTING_NS ? STARTING_PAUSE_NS : LONGEST_NS;

	return l->pause_ns * 2 < most ? l->pause_ns * 2 : most;
}

/* Whether it was too early, and the process is to be looked at again. */
static bool wants_more(struct look *l)
{
	if (!l->err || ++l->looks >= MAX_LOOKS)
		return false;
	return l->err != -ENOTSUP ||
	       (!l->ran_before && now_ns() < l->since_ns + LOADING_NS);
}

static void look_done(struct worker_job *job, bool cancelled)
{
	struct look *l = (struct look *)job;
	const struct runtime_image *image;
	const struct process *p;
	uint64_t bias;

	l->is_running = false;
	assert(l->attacher->nr_running);
	l->attacher->nr_running--;
	p = cancelled ? NULL : process_of(l, &image, &bias);
	if (!p) {
		l->is_over = true;
		return;
	}
	/* A process that is being started may have exchanged the file meanwhile. */
	if (wants_more(l)) {
		l->due_ns = now_ns() + l->pause_ns;
		l->pause_ns = longer_pause(l);
		return;
	}
	l->is_over = true;
	if (!l->err || l->err == -ENOTSUP)
		process_runtimes_attached(l->attacher->deps.runtimes, p, l->bias, &l->image,
					  l->err ? NULL : &l->runtime);
}

/*
 * true: it is looked at already. Something was mapped there just now, as a JVM does with the room
 * for its code shortly before it runs any, so the next look comes soon.
 */
static bool is_known(struct runtime_attacher *a, uint64_t serial)
{
	for (size_t i = 0; i < a->nr_looks; i++) {
		struct look *l = a->looks[i];

		if (l->serial != serial)
			continue;
		l->pause_ns = FIRST_NS;
		if (!l->is_running && l->due_ns > now_ns() + FIRST_NS)
			l->due_ns = now_ns() + FIRST_NS;
		return true;
	}
	return false;
}

static void take_late(struct runtime_attacher *a, bool ran_before)
{
	struct look *l, **place;
	uint64_t serial;
	uint32_t tgid;

	while (process_runtimes_take_late(a->deps.runtimes, &tgid, &serial)) {
		if (is_known(a, serial))
			continue;
		l = calloc(1, sizeof(*l));
		place = l ? array_push(&a->looks, &a->nr_looks, &a->cap_looks) : NULL;
		if (!place) {
			free(l);
			return;
		}
		*l = (struct look){ .job = { .run = look_run, .done = look_done }, .attacher = a,
				    .serial = serial, .tgid = tgid, .since_ns = now_ns(),
				    .pause_ns = FIRST_NS, .ran_before = ran_before };
		*place = l;
	}
}

static void begin(struct runtime_attacher *a, struct look *l)
{
	const struct runtime_image *image;

	l->is_over = !process_of(l, &image, &l->bias);
	if (l->is_over)
		return;
	if (l->of != image)
		l->image = *image;
	l->of = image;
	l->is_running = true;
	a->nr_running++;
	worker_submit(a->pool, &l->job);
}

/* Begins what is due, and forgets what is over. */
static void go_through(struct runtime_attacher *a)
{
	uint64_t now = now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < a->nr_looks; i++) {
		struct look *l = a->looks[i];

		if (!l->is_running && !l->is_over && l->due_ns <= now)
			begin(a, l);
		if (l->is_over)
			free(l);
		else
			a->looks[kept++] = l;
	}
	a->nr_looks = kept;
}

void runtime_attacher_poll(struct runtime_attacher *a, struct patience *wait)
{
	if (!a->deps.runtimes)
		return;
	if (a->pool)
		worker_reap(a->pool);
	take_late(a, wait);
	go_through(a);
	while (wait && a->nr_running && patience_lasts(wait)) {
		struct pollfd fd = { .fd = worker_fd(a->pool), .events = POLLIN };

		poll(&fd, 1, WAIT_MS);
		worker_reap(a->pool);
	}
}

int runtime_attacher_fd(const struct runtime_attacher *a)
{
	return a->pool ? worker_fd(a->pool) : -1;
}

uint64_t runtime_attacher_next_ns(const struct runtime_attacher *a)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < a->nr_looks; i++)
		if (!a->looks[i]->is_running && a->looks[i]->due_ns < next)
			next = a->looks[i]->due_ns;
	return next;
}
