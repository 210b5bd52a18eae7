/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/runtime_threads.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "src/proc/procfs.h"
#include "src/runtimes/runtime.h"

#define BUDGET_PARTS 20			/* a look of 1 ms comes once in 20 ms at most */
#define MAX_TRIES 6
#define TRY_AGAIN_NS (NSEC_PER_SEC / 10)	/* then twice as long, and so on */
#define RUNTIME_COMES_NS (10 * NSEC_PER_SEC)	/* until then a process may turn out to have one */
#define COLLECT_NS (NSEC_PER_SEC / 10)
#define SCAN_PATIENCE_NS (NSEC_PER_SEC / 10)
#define WAIT_MS 50
#define MAX_PROCESSES 65536		/* that are looked at, at a time */
#define MAX_ASKED 8192			/* threads of one process */

/* A thread without a name so far. */
struct asked {
	uint32_t tid, own_tid;		/* own: in its PID namespace; 0: not asked for yet */
	uint32_t thread;
	uint8_t tries;
	bool has_own_comm;		/* another one than its process */
	char comm[16];
};

/* Looks at one process. While it is busy, its thread has what is above .serial. */
struct look {
	struct worker_job job;
	struct runtime_threads *threads;
	const struct runtime_image *image;
	uint64_t bias;
	struct runtime_thread_name *names;
	size_t nr_names, cap_names;
	uint32_t tgid;
	uint64_t took_ns;
	int err;
	uint64_t serial, next_ns;	/* no look before */
	uint32_t slot;			/* of the process */
	uint64_t met_ns;		/* when a thread came last */
	struct asked *asked;
	size_t nr_asked, cap_asked;
	bool is_busy, is_answered;
};

struct place {
	uint64_t serial;
	struct look *look;
};

struct runtime_threads {
	struct runtime_threads_deps deps;
	struct worker_pool *pool;	/* NULL: not needed yet */
	struct memory_reader *memory;	/* of its thread */
	/* One for each process with threads that are asked for. */
	struct look **looks;
	size_t nr, cap;
	struct per_process places;	/* struct place */
	size_t nr_busy;
	uint64_t next_ns;
	struct runtime_threads_stats stats;
};

int runtime_threads_new(const struct runtime_threads_deps *deps, struct runtime_threads **tp)
{
	struct runtime_threads *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->deps = *deps;
	t->places.size = sizeof(struct place);
	*tp = t;
	return 0;
}

static void clear_names(struct look *k)
{
	for (size_t i = 0; i < k->nr_names; i++)
		free(k->names[i].name);
	k->nr_names = 0;
}

static void free_look(struct look *k)
{
	clear_names(k);
	free(k->names);
	free(k->asked);
	free(k);
}

void runtime_threads_free(struct runtime_threads *t)
{
	if (!t)
		return;
	worker_pool_free(t->pool);
	memory_reader_free(t->memory);
	for (size_t i = 0; i < t->nr; i++)
		free_look(t->looks[i]);
	free(t->looks);
	per_process_release(&t->places);
	free(t);
}

/* ---- in a thread ---- */

static void look_run(struct worker_job *job)
{
	struct look *k = (struct look *)job;
	struct memory_of_process of = { k->threads->memory, (pid_t)k->tgid, k->job.unwanted };
	const struct target_memory memory = { memory_of_process, &of };
	uint64_t began = now_ns();

	k->err = runtime_thread_names(k->image, k->bias, &memory, k->names, k->nr_names);
	k->took_ns = now_ns() - began;
}

static void look_done(struct worker_job *job, bool cancelled)
{
	struct look *k = (struct look *)job;
	struct runtime_threads *t = k->threads;

	if (cancelled)
		k->err = -ECANCELED;
	assert(t->nr_busy && k->is_busy);
	t->nr_busy--;
	k->is_busy = false;
	k->is_answered = true;
	t->stats.looks++;
	t->stats.failed += k->err != 0;
	t->stats.took_ns += k->took_ns;
}

/* ---- threads that are met ---- */

static struct look *look_of(struct runtime_threads *t, const struct process *p)
{
	struct place *place = per_process_at(&t->places, p);
	struct look **slot;

	if (!place || place->look)
		return place ? place->look : NULL;
	slot = t->nr < MAX_PROCESSES ? array_push(&t->looks, &t->nr, &t->cap) : NULL;
	if (!slot)
		return NULL;
	*slot = place->look = calloc(1, sizeof(**slot));
	if (!*slot) {
		t->nr--;
		return NULL;
	}
	*place->look = (struct look){ .job = { .run = look_run, .done = look_done }, .threads = t,
				      .serial = p->serial, .slot = p->slot, .tgid = p->tgid };
	return place->look;
}

/* Its process may be gone, and after runtime_threads_forget() has another look, or none. */
static void end_look(struct runtime_threads *t, struct look *k)
{
	struct place *place = per_process_of_slot(&t->places, k->slot, k->serial);

	if (place && place->look == k)
		place->look = NULL;
	free_look(k);
}

void runtime_threads_meet(struct runtime_threads *t, const struct process *p, uint32_t thread,
			  uint32_t tid, const char *comm)
{
	struct look *k = t->deps.runtimes && !p->is_kthread ? look_of(t, p) : NULL;
	struct asked *a;

	if (!k || k->nr_asked >= MAX_ASKED)
		return;
	a = array_push(&k->asked, &k->nr_asked, &k->cap_asked);
	if (!a)
		return;
	*a = (struct asked){ .tid = tid, .thread = thread,
			     .has_own_comm = strcmp(comm, p->comm) != 0 };
	strncpy(a->comm, comm, sizeof(a->comm) - 1);
	k->met_ns = now_ns();
	if (!a[0].tries && k->nr_asked == 1)
		k->next_ns = k->met_ns;
}

/* ---- answers ---- */

static bool is_better(const struct asked *a, const struct runtime_thread_name *n)
{
	if (!n->name || !strcmp(n->name, a->comm))
		return false;
	return !n->is_made_up || !a->has_own_comm || !strncmp(n->name, a->comm, strlen(a->comm));
}

/* Whether the answer is about the thread when it had this name in the kernel. */
static bool is_of_its_time(const struct asked *a, const struct runtime_thread_name *n)
{
	return !n->is_of_comm || !a->has_own_comm || !strcmp(a->comm, n->comm);
}

/* true: the thread is asked for no longer. */
static bool take_answer(struct look *k, struct asked *a, int *err)
{
	const struct runtime_thread_name *n =
		a->own_tid ? runtime_thread_name_of(k->names, k->nr_names, a->own_tid) : NULL;

	if (!n)
		return false;		/* it came while the look was under way */
	if (!n->is_found || !is_of_its_time(a, n))
		return ++a->tries >= MAX_TRIES;
	if (is_better(a, n) && !*err) {
		k->threads->stats.named++;
		*err = k->threads->deps.name(k->threads->deps.ctx, a->thread, n->name);
	}
	return true;
}

static int take_answers(struct look *k)
{
	size_t keep = 0;
	unsigned tries = 0;
	int err = 0;

	for (size_t i = 0; i < k->nr_asked; i++) {
		if (take_answer(k, &k->asked[i], &err))
			continue;
		k->asked[keep] = k->asked[i];
		tries = k->asked[keep].tries > tries ? k->asked[keep].tries : tries;
		keep++;
	}
	k->nr_asked = keep;
	k->is_answered = false;
	k->next_ns = now_ns() + k->took_ns * BUDGET_PARTS;
	if (tries)
		k->next_ns += TRY_AGAIN_NS << (tries - 1);
	clear_names(k);
	return err;
}

static int take_all(struct runtime_threads *t)
{
	int err = 0;

	if (t->pool)
		worker_reap(t->pool);
	for (size_t i = 0; i < t->nr && !err; i++)
		if (t->looks[i]->is_answered)
			err = take_answers(t->looks[i]);
	return err;
}

/* ---- questions ---- */

/* One that is to be attached is not asked before: what is known of it changes. */
static bool is_ready(const struct runtime_threads *t, const struct process *p,
		     const struct runtime_image *image)
{
	uint64_t bias;

	return !runtime_is_attached_late(image) ||
	       process_runtimes_late_of(t->deps.runtimes, p, &bias) != image;
}

static const struct runtime_image *image_of(const struct runtime_threads *t,
					    const struct process *p, uint64_t *bias)
{
	for (uint32_t slot = 0; slot < PROGRAM_SLOTS; slot++) {
		const struct runtime_image *image =
			process_runtimes_of(t->deps.runtimes, p, slot, bias);

		if (image && runtime_knows_threads(image) && is_ready(t, p, image))
			return image;
	}
	return NULL;
}

static bool begin(struct runtime_threads *t)
{
	if (!t->memory)
		t->memory = memory_reader_new(t->deps.forker, t->deps.costs);
	if (!t->pool && t->memory)
		t->pool = worker_pool_new_with(1, t->deps.begin_thread);
	return t->pool;
}

static int by_tid(const void *a, const void *b)
{
	const struct runtime_thread_name *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void note_comms(struct look *k)
{
	for (size_t i = 0; i < k->nr_asked; i++) {
		const struct asked *a = &k->asked[i];
		struct runtime_thread_name *n =
			runtime_thread_name_of(k->names, k->nr_names, a->own_tid);

		if (n)
			memcpy(n->comm, a->comm, sizeof(n->comm));
	}
}

/* The threads of a look, each once. */
static int take_questions(struct look *k)
{
	const bool is_nested = procfs_is_nested((pid_t)k->tgid);
	size_t nr = 0;

	if (array_reserve(&k->names, &k->cap_names, k->nr_asked))
		return -ENOMEM;
	for (size_t i = 0; i < k->nr_asked; i++) {
		struct asked *a = &k->asked[i];

		a->own_tid = is_nested ? procfs_own_tid((pid_t)a->tid) : a->tid;
		k->names[i] = (struct runtime_thread_name){ .tid = a->own_tid };
	}
	qsort(k->names, k->nr_asked, sizeof(*k->names), by_tid);
	for (size_t i = 0; i < k->nr_asked; i++)
		if (k->names[i].tid && (!nr || k->names[i].tid != k->names[nr - 1].tid))
			k->names[nr++] = k->names[i];
	k->nr_names = nr;
	note_comms(k);
	return nr ? 0 : -ENOENT;
}

static bool has_new(const struct look *k)
{
	for (size_t i = 0; i < k->nr_asked; i++)
		if (!k->asked[i].tries)
			return true;
	return false;
}

/* Begins a look if it is time, or at all events. false: nothing is asked for any more. */
static bool ask(struct runtime_threads *t, struct look *k, bool is_last, bool only_new)
{
	const struct process *p = processes_find(t->deps.processes, k->tgid, TIME_NEVER);

	if (k->is_busy)
		return true;
	if (!k->nr_asked || !p || p->serial != k->serial)
		return false;
	k->image = image_of(t, p, &k->bias);
	if (!k->image)
		return now_ns() < k->met_ns + RUNTIME_COMES_NS;
	if ((!is_last && now_ns() < k->next_ns) || (only_new && !has_new(k)))
		return true;
	if (!begin(t) || take_questions(k))
		return false;
	k->is_busy = true;
	t->nr_busy++;
	worker_submit(t->pool, &k->job);
	return true;
}

static void ask_all(struct runtime_threads *t, bool is_last, bool only_new)
{
	size_t keep = 0;

	for (size_t i = 0; i < t->nr; i++) {
		struct look *k = t->looks[i];

		if (ask(t, k, is_last, only_new))
			t->looks[keep++] = k;
		else
			end_look(t, k);
	}
	t->nr = keep;
}

static int wait_for_looks(struct runtime_threads *t, struct patience *wait)
{
	int err = take_all(t);

	while (!err && t->nr_busy && patience_lasts(wait)) {
		struct pollfd fd = { .fd = worker_fd(t->pool), .events = POLLIN };

		poll(&fd, 1, WAIT_MS);
		err = take_all(t);
	}
	return err;
}

int runtime_threads_scan(struct runtime_threads *t)
{
	struct patience wait = { .until_ns = now_ns() + SCAN_PATIENCE_NS };
	int err = take_all(t);

	if (err || !t->nr)
		return err;
	ask_all(t, false, true);
	return wait_for_looks(t, &wait);
}

int runtime_threads_collect(struct runtime_threads *t, struct patience *wait)
{
	uint64_t now = now_ns();
	int err = take_all(t);

	if (err || !t->nr || (!wait && now < t->next_ns))
		return err;
	if (wait)
		err = wait_for_looks(t, wait);
	ask_all(t, wait, false);
	t->next_ns = now + COLLECT_NS;
	return err || !wait ? err : wait_for_looks(t, wait);
}

/* A look that is busy is waited for: what it will answer is about ids that are no more. */
void runtime_threads_forget(struct runtime_threads *t)
{
	size_t keep = 0;

	per_process_release(&t->places);
	t->places = (struct per_process){ .size = sizeof(struct place) };
	for (size_t i = 0; i < t->nr; i++) {
		struct look *k = t->looks[i];

		k->nr_asked = 0;
		if (k->is_busy)
			t->looks[keep++] = k;
		else
			free_look(k);
	}
	t->nr = keep;
}

void runtime_threads_stats(const struct runtime_threads *t, struct runtime_threads_stats *out)
{
	*out = t->stats;
}
