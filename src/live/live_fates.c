/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_fates.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/profile/largest.h"

enum {
	ROW_SCANS = 8,			/* a thread without a row for so many scans is gone */
	KEPT_NAMES = 2048,		/* of programs that are gone */
};

/* A process with this share of an event is told apart also when it is gone. */
#define LARGE_PROCESS (1 / 256.0)

static const struct definition_store *old_store(const struct live_fates *c)
{
	return c->l->ids.store;
}

static void *array_of(size_t nr, size_t size, bool *failed)
{
	void *v = calloc(nr + 1, size);

	*failed |= !v;
	return v;
}

static int begin(struct live_fates *c, const struct live_profile *l)
{
	size_t nr = l->counts.nr;
	bool failed = false;

	*c = (struct live_fates){ .l = l };
	c->nr_threads = l->ids.kinds[REC_THREAD].last + 1;
	c->nr_processes = l->ids.kinds[REC_PROCESS].last + 1;
	c->nr_names = l->ids.kinds[REC_STRING].last + 1;
	c->share = array_of(nr, sizeof(*c->share), &failed);
	c->v = array_of(nr, sizeof(*c->v), &failed);
	c->threads = array_of(c->nr_threads, sizeof(*c->threads), &failed);
	c->processes = array_of(c->nr_processes, sizeof(*c->processes), &failed);
	c->process_share = array_of(c->nr_processes, sizeof(*c->process_share), &failed);
	c->name_share = array_of(c->nr_names, sizeof(*c->name_share), &failed);
	return failed ? -ENOMEM : 0;
}

void live_fates_release(struct live_fates *c)
{
	free(c->v);
	free(c->share);
	free(c->sums);
	free(c->threads);
	free(c->processes);
	free(c->process_share);
	free(c->name_share);
	free(c->room);
	memset(c, 0, sizeof(*c));
}

double live_share(const struct live_profile *l, uint32_t event, uint64_t weight)
{
	uint64_t whole = event < l->nr_events ? l->events[event].weight : 0;

	return whole ? (double)weight / (double)whole : 0;
}

uint32_t live_fates_process_of(const struct live_fates *c, uint32_t thread)
{
	const struct rec_thread *t = definition_store_find_thread(old_store(c), thread);

	return t && definition_store_find_process(old_store(c), t->process) ? t->process : 0;
}

static void measure(struct live_fates *c)
{
	for (size_t i = 0; i < c->l->counts.nr; i++) {
		const struct live_count *n = &c->l->counts.v[i];
		uint32_t process = live_fates_process_of(c, n->thread);
		const struct rec_process *p =
			definition_store_find_process(old_store(c), process);

		c->share[i] = live_share(c->l, n->event, n->weight);
		assert(process < c->nr_processes);
		c->process_share[process] += c->share[i];
		if (p && p->comm < c->nr_names)
			c->name_share[p->comm] += c->share[i];
	}
}

/* ---- what is recent ---- */

static void mark(struct live_fates *c, uint32_t count, size_t *nr)
{
	assert(count < c->l->counts.nr);
	*nr += c->v[count] != FATE_RECENT;
	c->v[count] = FATE_RECENT;
}

bool live_row_is_there(const struct live_profile *l, const struct last_row *row)
{
	return row->count && (uint64_t)row->rec.scan + ROW_SCANS >= l->scan;
}

/* Marks what has grown within so many ns. Whether that is not too much to be kept as it is. */
static bool mark_recent(struct live_fates *c, uint64_t recent_ns)
{
	const struct live_windows *w = &c->l->windows;
	const struct live_limits *max = &c->l->limits;
	uint64_t end = w->nr ? w->v[w->nr - 1].end_ns : 0;
	size_t nr = 0, growths = 0, i = w->nr;

	memset(c->v, FATE_FOLDED, c->l->counts.nr);
	for (; i && (i == w->nr || end - w->v[i - 1].begin_ns <= recent_ns); i--) {
		growths += w->v[i - 1].nr;
		for (size_t k = 0; k < w->v[i - 1].nr; k++)
			mark(c, w->v[i - 1].v[k].id, &nr);
	}
	c->first_recent = i;
	for (i = 0; i < c->l->last.nr; i++)
		if (live_row_is_there(c->l, &c->l->last.v[i]))
			mark(c, c->l->last.v[i].count - 1, &nr);
	return nr <= (max->counts / 3) >> c->l->thrift &&
	       growths <= (max->growths / 5 * 2) >> c->l->thrift;
}

/* In a busy time what is recent is shorter. */
static void find_recent(struct live_fates *c)
{
	uint64_t recent = c->l->limits.recent_ns;

	while (!mark_recent(c, recent) && recent > LIVE_WINDOW_NS)
		recent -= recent / 4;
}

static void mark_life(struct live_fates *c)
{
	for (size_t i = 0; i < c->l->counts.nr; i++) {
		assert(c->l->counts.v[i].thread < c->nr_threads);
		if (c->v[i] == FATE_RECENT)
			c->threads[c->l->counts.v[i].thread] = LIFE_THERE;
	}
	for (uint32_t t = 1; t < c->nr_threads; t++)
		if (c->threads[t] == LIFE_THERE)
			c->processes[live_fates_process_of(c, t)] = LIFE_THERE;
	for (uint32_t p = 1; p < c->nr_processes; p++)
		if (!c->processes[p] && c->process_share[p] >= LARGE_PROCESS)
			c->processes[p] = LIFE_LARGE;
}

static size_t kept_counts(const struct live_fates *c)
{
	return (c->l->limits.counts / 12) >> c->l->thrift;
}

/* The counts that stay because they are large, and the names that are kept. */
static int choose_large(struct live_fates *c)
{
	size_t nr = 0, keep = kept_counts(c);
	struct largest large;

	if (array_reserve(&c->room, &c->cap_room, c->l->counts.nr + c->nr_names))
		return -ENOMEM;
	for (size_t i = 0; i < c->l->counts.nr; i++)
		if (c->v[i] != FATE_RECENT)
			c->room[nr++] = c->share[i];
	largest_init(&large, c->room, nr, keep);
	for (size_t i = 0; i < c->l->counts.nr; i++)
		if (c->v[i] != FATE_RECENT && largest_has(&large, c->share[i]))
			c->v[i] = FATE_LARGE;
	memcpy(c->room, c->name_share, c->nr_names * sizeof(*c->room));
	largest_init(&large, c->room, c->nr_names, KEPT_NAMES);
	c->least_name = large.least;
	return 0;
}

/* What stands for the process of a count, after those that are gone were merged by name. */
static uint32_t class_of(const struct live_fates *c, uint32_t thread)
{
	uint32_t process = live_fates_process_of(c, thread);
	const struct rec_process *p = definition_store_find_process(old_store(c), process);

	if (!p)
		return thread;
	return c->processes[process] == LIFE_GONE ? 1u << 31 | p->comm : 1u << 30 | process;
}

/* Adds up the shares of folded counts by process and stack; sums[i]: the sum of count i. */
static int add_up(struct live_fates *c, struct live_counts *all, uint32_t *sums)
{
	size_t cap = 0;

	for (size_t i = 0; i < c->l->counts.nr; i++) {
		struct live_count key = c->l->counts.v[i];

		if (c->v[i] != FATE_FOLDED)
			continue;
		key.thread = class_of(c, key.thread);
		sums[i] = live_counts_find(all, &key);
		if (sums[i] == IX_NONE || array_reserve(&c->sums, &cap, all->nr))
			return -ENOMEM;
		c->sums[sums[i]] += c->share[i];
	}
	return 0;
}

/* The counts that lose their thread and keep their stack. */
static int choose_merged(struct live_fates *c)
{
	uint32_t *sums = calloc(c->l->counts.nr + 1, sizeof(*sums));
	struct live_counts all = { .nr = 0 };
	int err = sums ? add_up(c, &all, sums) : -ENOMEM;
	struct largest large;

	if (!err && array_reserve(&c->room, &c->cap_room, all.nr))
		err = -ENOMEM;
	if (!err && all.nr) {
		memcpy(c->room, c->sums, all.nr * sizeof(*c->room));
		largest_init(&large, c->room, all.nr, kept_counts(c));
		for (size_t i = 0; i < all.nr; i++)
			all.v[i].samples = largest_has(&large, c->sums[i]);
		for (size_t i = 0; i < c->l->counts.nr; i++)
			if (c->v[i] == FATE_FOLDED && all.v[sums[i]].samples)
				c->v[i] = FATE_MERGED;
	}
	live_counts_release(&all);
	free(sums);
	return err;
}

bool live_fates_keeps_name(const struct live_fates *c, uint32_t name)
{
	return name < c->nr_names && c->name_share[name] >= c->least_name;
}

int live_fates_init(struct live_fates *c, const struct live_profile *l)
{
	int err = begin(c, l);

	if (!err) {
		measure(c);
		find_recent(c);
		mark_life(c);
		err = choose_large(c);
	}
	if (!err)
		err = choose_merged(c);
	if (err)
		live_fates_release(c);
	return err;
}
