/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/runtime_locks.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/model/process.h"
#include "src/proc/procfs.h"
#include "src/runtimes/runtime.h"

#define BUDGET_PARTS 20			/* a look of 1 ms comes once in 20 ms at most */

/* Looks at one process. While it is busy, its thread has what is above .serial. */
struct look {
	struct worker_job job;
	struct runtime_locks *locks;
	const struct runtime_image *image;
	uint64_t bias;
	struct runtime_wait_hints hints;
	struct runtime_wait *waits;
	size_t nr, cap;
	uint32_t tgid;
	uint64_t took_ns;
	int err;
	uint64_t serial, next_ns;	/* no look before */
	uint32_t nr_looks;
	bool is_busy, is_unanswered;
};

struct runtime_locks {
	struct runtime_locks_deps deps;
	struct worker_pool *pool;	/* NULL: not needed yet */
	struct memory_reader *memory;	/* of its thread */
	struct look **looks;
	size_t nr_looks, cap_looks, nr_busy;
	struct runtime_locks_stats stats;
};

int runtime_locks_new(const struct runtime_locks_deps *deps, struct runtime_locks **lp)
{
	struct runtime_locks *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->deps = *deps;
	*lp = l;
	return 0;
}

void runtime_locks_free(struct runtime_locks *l)
{
	if (!l)
		return;
	worker_pool_free(l->pool);
	memory_reader_free(l->memory);
	for (size_t i = 0; i < l->nr_looks; i++) {
		free(l->looks[i]->waits);
		free(l->looks[i]);
	}
	free(l->looks);
	free(l);
}

/* ---- in a thread ---- */

static void look_run(struct worker_job *job)
{
	struct look *k = (struct look *)job;
	struct memory_of_process of = { k->locks->memory, (pid_t)k->tgid, k->job.unwanted };
	const struct target_memory memory = { memory_of_process, &of };
	uint64_t began = now_ns();

	k->err = runtime_waits(k->image, k->bias, &memory, &k->hints, k->waits, k->nr);
	k->took_ns = now_ns() - began;
}

static void look_done(struct worker_job *job, bool cancelled)
{
	struct look *k = (struct look *)job;

	if (cancelled)
		k->err = -ECANCELED;
	k->is_busy = false;
	assert(k->locks->nr_busy);
	k->locks->nr_busy--;
	k->locks->stats.looks++;
	k->locks->stats.failed += k->err != 0;
	k->locks->stats.took_ns += k->took_ns;
	/* The first one of all starts the process that reads, and finds out where fields are. */
	if (k->nr_looks++)
		k->next_ns = now_ns() + k->took_ns * BUDGET_PARTS;
	k->is_unanswered = k->err == -EAGAIN;
}

/* ---- processes ---- */

static const struct runtime_image *image_of(const struct runtime_locks *l, const struct process *p,
					    uint64_t *bias)
{
	for (uint32_t slot = 0; l->deps.runtimes && slot < PROGRAM_SLOTS; slot++) {
		const struct runtime_image *image =
			process_runtimes_of(l->deps.runtimes, p, slot, bias);

		if (image && runtime_knows_waits(image))
			return image;
	}
	return NULL;
}

static struct look *find_look(const struct runtime_locks *l, const struct process *p)
{
	for (size_t i = 0; i < l->nr_looks; i++)
		if (l->looks[i]->serial == p->serial)
			return l->looks[i];
	return NULL;
}

static struct look *add_look(struct runtime_locks *l, const struct process *p)
{
	struct look *k, **place;

	if (l->nr_looks >= LOCKS_PROCESSES)
		return NULL;
	k = calloc(1, sizeof(*k));
	place = k ? array_push(&l->looks, &l->nr_looks, &l->cap_looks) : NULL;
	if (!place) {
		free(k);
		return NULL;
	}
	*place = k;
	*k = (struct look){ .job = { .run = look_run, .done = look_done }, .locks = l,
			    .serial = p->serial, .tgid = p->tgid, .is_unanswered = true };
	return k;
}

bool runtime_locks_are_known(const struct runtime_locks *l, const struct process *p)
{
	uint64_t bias;

	return image_of(l, p, &bias);
}

bool runtime_locks_are_unanswered(const struct runtime_locks *l, const struct process *p)
{
	const struct look *k = find_look(l, p);
	uint64_t bias;

	return k ? k->is_unanswered : image_of(l, p, &bias) && l->nr_looks < LOCKS_PROCESSES;
}

/* ---- questions ---- */

static bool begin(struct runtime_locks *l)
{
	if (!l->memory)
		l->memory = memory_reader_new(l->deps.forker, l->deps.costs);
	if (!l->pool && l->memory)
		l->pool = worker_pool_new_with(1, l->deps.begin_thread);
	return l->pool;
}

static int take_questions(struct look *k, const struct lock_question *q, size_t nr)
{
	const bool is_nested = procfs_is_nested((pid_t)k->tgid);

	if (array_reserve(&k->waits, &k->cap, nr))
		return -ENOMEM;
	memset(k->waits, 0, nr * sizeof(*k->waits));
	for (size_t i = 0; i < nr; i++)
		k->waits[i].tid = is_nested ? procfs_own_tid((pid_t)q[i].tid) : q[i].tid;
	k->nr = nr;
	return 0;
}

/* Begins a look at the process of nr questions, if it may. */
static void ask_process(struct runtime_locks *l, const struct lock_question *q, size_t nr)
{
	struct look *k = find_look(l, q->process);

	if (!k)
		k = add_look(l, q->process);
	if (!k || k->is_busy)
		return;
	k->image = image_of(l, q->process, &k->bias);
	k->is_unanswered = true;
	if (!k->image || now_ns() < k->next_ns || !begin(l) || take_questions(k, q, nr))
		return;
	k->is_busy = true;
	l->nr_busy++;
	worker_submit(l->pool, &k->job);
}

static void wait_for_looks(struct runtime_locks *l)
{
	uint64_t until = now_ns() + LOOK_PATIENCE_NS;

	while (l->nr_busy && now_ns() < until) {
		struct pollfd fd = { .fd = worker_fd(l->pool), .events = POLLIN };

		poll(&fd, 1, (int)((until - now_ns()) / 1000000 + 1));
		worker_reap(l->pool);
	}
	l->stats.late += l->nr_busy;
}

/* What the look at the process of nr questions has found. */
static void take_answers(struct runtime_locks *l, struct lock_question *q, size_t nr)
{
	const struct look *k = find_look(l, q->process);

	if (!k || k->is_busy || k->is_unanswered || k->err || k->nr != nr)
		return;
	for (size_t i = 0; i < nr; i++)
		q[i].owner = k->waits[i].owner;
}

static size_t same_process(const struct lock_question *q, size_t nr)
{
	size_t n = 1;

	while (n < nr && q[n].process == q->process)
		n++;
	return n;
}

void runtime_locks_ask(struct runtime_locks *l, struct lock_question *questions, size_t nr)
{
	if (l->pool)
		worker_reap(l->pool);
	for (size_t i = 0, n; i < nr; i += n) {
		n = same_process(questions + i, nr - i);
		if (questions[i].process)
			ask_process(l, questions + i, n);
	}
	wait_for_looks(l);
	for (size_t i = 0, n; i < nr; i += n) {
		n = same_process(questions + i, nr - i);
		if (questions[i].process)
			take_answers(l, questions + i, n);
	}
}

void runtime_locks_stats(const struct runtime_locks *l, struct runtime_locks_stats *out)
{
	*out = l->stats;
}
