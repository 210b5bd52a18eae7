/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a live profile stays small, whatever comes for however long.
 *
 * What makes it grow: distinct stacks (counts), counts that grew in each window of time, and the
 * definitions of programs that are gone. When one of them is above its limit, all that is worth
 * keeping is copied into new tables (live_copy.h), and the old ones are freed:
 *
 *	recent		Counts that grew in the newest windows, or that are the last row of a thread
 *			which is there, stay as they are.
 *	large		All others with the largest share of their event stay, too.
 *	merged		What is left is added up by process and stack, without its thread, and the
 *			largest of these sums keep the stack.
 *	folded		The rest loses it: it is added to the count of its event, activity, end and
 *			process that has the stack "[older stacks]".
 *	gone		Threads without a recent count become "[ended threads]" of their process.
 *			Processes without one become one by name, unless they are large.
 *
 * Older windows keep some growths each, the largest ones; the others are of "[older stacks]", too.
 *
 * Example: 40,000 short-lived processes "cc1plus" with 300,000 stacks become a single process with
 * the 25,000 largest stacks, and what is left is below "[older stacks]".
 *
 * The segment that is being read refers to its definitions by the ids they had, so these are kept
 * as long as it lasts. At its end nothing refers to them, and it is the best time to compact.
 *
 * After each time there may be half as much again before it is done once more, so that the costs,
 * which are in proportion to all that there is, are spread over that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/model/definition_store.h"
#include "src/profile/largest.h"
#include "src/live/live_copy.h"
#include "src/live/live_fates.h"
#include "src/live/live_profile_parts.h"
#include "src/report/weight_text.h"

enum {
	LEAST_GROWTHS = 16,		/* that an older window keeps */
	MOST_CLOCKS = 4096,
	MOST_THRIFT = 8,
};

struct compaction {
	struct live_profile *l;		/* as it was */
	struct live_fates fates;	/* what becomes of it */
	struct live_ids ids;		/* as it will be */
	struct live_copy copy;
	struct live_counts counts;
	struct live_event *events;
	size_t nr_events, cap_events;
	struct last_rows last;
	uint64_t folded;
	uint32_t *self, *fold;		/* by old count: the new one plus 1 */
	uint32_t *process_ids;		/* by old process: the new one; 0: not asked for yet */
	/* Windows. */
	size_t kept_growths;
	bool is_old;			/* the window that is rewritten */
	struct largest largest;		/* its growths that are kept */
	double *room;
	size_t cap_room;
};

static const struct definition_store *old_store(const struct compaction *c)
{
	return c->l->ids.store;
}

static int begin(struct compaction *c, struct live_profile *l)
{
	*c = (struct compaction){ .l = l };
	c->self = calloc(l->counts.nr + 1, sizeof(*c->self));
	c->fold = calloc(l->counts.nr + 1, sizeof(*c->fold));
	c->process_ids = calloc((size_t)l->ids.kinds[REC_PROCESS].last + 2,
				sizeof(*c->process_ids));
	if (!c->self || !c->fold || !c->process_ids || live_ids_init(&c->ids) ||
	    live_fates_init(&c->fates, l))
		return -ENOMEM;
	return live_copy_init(&c->copy, old_store(c), &c->ids);
}

static void release(struct compaction *c)
{
	free(c->self);
	free(c->fold);
	free(c->process_ids);
	free(c->room);
	live_fates_release(&c->fates);
	live_copy_release(&c->copy);
	live_ids_release(&c->ids);
	live_counts_release(&c->counts);
	free(c->events);
	last_rows_release(&c->last);
}

/* ---- new ids ---- */

/* All processes of a name that are gone are one. */
static uint32_t merged_process(struct compaction *c, const struct rec_process *p)
{
	struct record rec = { .tag = REC_PROCESS };
	bool has_name = live_fates_keeps_name(&c->fates, p->comm);

	rec.process.flags = (p->flags & PROCESS_KTHREAD) | PROCESS_EXITED;
	rec.process.comm = has_name ? live_copy_id(&c->copy, REC_STRING, p->comm)
				    : live_copy_string(&c->copy, "[other programs]");
	return live_copy_define(&c->copy, &rec);
}

static uint32_t new_process(struct compaction *c, uint32_t process)
{
	const struct rec_process *p = definition_store_find_process(old_store(c), process);

	if (!p)
		return live_copy_id(&c->copy, REC_PROCESS, process);
	if (!c->process_ids[process])
		c->process_ids[process] = c->fates.processes[process] == LIFE_GONE
						  ? merged_process(c, p)
						  : live_copy_id(&c->copy, REC_PROCESS, process);
	return c->process_ids[process];
}

/* A thread that stands for others of its process. */
static uint32_t common_thread(struct compaction *c, uint32_t process, uint32_t comm)
{
	struct record rec = { .tag = REC_THREAD };

	rec.thread = (struct rec_thread){ .process = new_process(c, process), .comm = comm };
	return live_copy_define(&c->copy, &rec);
}

static bool is_common(const struct rec_thread *t)
{
	return !t->tid;
}

static uint32_t new_thread(struct compaction *c, uint32_t thread)
{
	const struct rec_thread *t = definition_store_find_thread(old_store(c), thread);
	uint32_t process = live_fates_process_of(&c->fates, thread);

	if (!process || c->fates.threads[thread] == LIFE_THERE)
		return live_copy_id(&c->copy, REC_THREAD, thread);
	return common_thread(c, process, is_common(t)
						 ? live_copy_id(&c->copy, REC_STRING, t->comm)
						 : live_copy_string(&c->copy, "[ended threads]"));
}

/* The thread of stacks that are not told apart: it is named like its process. */
static uint32_t older_thread(struct compaction *c, uint32_t thread)
{
	uint32_t process = live_fates_process_of(&c->fates, thread), made = new_process(c, process);
	const struct rec_process *p = definition_store_find_process(c->ids.store, made);

	return process && p ? common_thread(c, process, p->comm)
			    : live_copy_id(&c->copy, REC_THREAD, thread);
}

static bool is_older(const struct compaction *c, const struct live_count *n)
{
	const struct table_node *node =
		definition_store_find_node(old_store(c), n->ustack ? n->ustack : n->kstack);
	const struct rec_frame *f =
		node ? definition_store_find_frame(old_store(c), node->frame) : NULL;

	return f && f->kind == FRAME_SYNTHETIC && f->addr == UINT64_MAX;
}

/* New index of a count with its stack; IX_NONE: out of memory. */
static uint32_t new_count(struct compaction *c, uint32_t old)
{
	struct live_count key = c->l->counts.v[old];

	if (!c->self[old]) {
		key.event = live_copy_id(&c->copy, REC_EVENT, key.event);
		key.thread = c->fates.v[old] == FATE_MERGED ? older_thread(c, key.thread)
						    : new_thread(c, key.thread);
		key.kstack = live_copy_id(&c->copy, REC_NODE, key.kstack);
		key.ustack = live_copy_id(&c->copy, REC_NODE, key.ustack);
		c->self[old] = live_counts_find(&c->counts, &key) + 1;
	}
	return c->copy.failed ? IX_NONE : c->self[old] - 1;
}

/*
 * New index of a count without its stack; IX_NONE: out of memory. The end of the user stack is
 * kept: it says how good the stacks were.
 */
static uint32_t folded_count(struct compaction *c, uint32_t old)
{
	struct live_count key = c->l->counts.v[old];

	if (!c->fold[old]) {
		bool has_kernel = !key.ustack && key.kstack;

		key.event = live_copy_id(&c->copy, REC_EVENT, key.event);
		key.thread = older_thread(c, key.thread);
		key.ustack = key.ustack ? live_copy_older(&c->copy) : 0;
		key.kstack = has_kernel ? live_copy_older(&c->copy) : 0;
		c->fold[old] = live_counts_find(&c->counts, &key) + 1;
	}
	return c->copy.failed ? IX_NONE : c->fold[old] - 1;
}

/* ---- everything is copied ---- */

static int copy_events(struct compaction *c)
{
	for (uint32_t id = 1; id < c->copy.end[REC_EVENT]; id++)
		live_copy_id(&c->copy, REC_EVENT, id);
	for (uint32_t id = 0; id < c->l->nr_events; id++) {
		const struct live_event *e = &c->l->events[id];
		uint32_t made = e->samples ? live_copy_id(&c->copy, REC_EVENT, id) : 0;

		if (array_reserve(&c->events, &c->cap_events, (size_t)made + 1))
			return -ENOMEM;
		if (made >= c->nr_events)
			c->nr_events = (size_t)made + 1;
		c->events[made].samples += e->samples;
		c->events[made].weight = weight_sum(c->events[made].weight, e->weight);
	}
	return 0;
}

/* The ids of the segment that is being read lead to the new ones. */
static int copy_segment(struct compaction *c)
{
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++) {
		const struct live_id_kind *from = &c->l->ids.kinds[tag];
		struct live_id_kind *to = &c->ids.kinds[tag];

		if (!from->nr_own)
			continue;
		if (array_reserve(&to->own, &to->cap_own, from->nr_own))
			return -ENOMEM;
		to->nr_own = from->nr_own;
		for (size_t i = 0; i < from->nr_own; i++)
			to->own[i] = live_copy_id(&c->copy, (enum record_tag)tag, from->own[i]);
	}
	c->ids.gaps = c->l->ids.gaps;
	c->ids.refused = c->l->ids.refused;
	return 0;
}

static int copy_counts(struct compaction *c)
{
	for (uint32_t i = 0; i < c->l->counts.nr; i++) {
		const struct live_count *old = &c->l->counts.v[i];
		bool is_folded = c->fates.v[i] == FATE_FOLDED;
		uint32_t id = is_folded ? folded_count(c, i) : new_count(c, i);
		struct live_count *n;

		if (id == IX_NONE)
			return -ENOMEM;
		n = &c->counts.v[id];
		n->samples += old->samples;
		n->weight = weight_sum(n->weight, old->weight);
		c->folded += is_folded && (old->ustack || old->kstack) && !is_older(c, old)
				     ? old->samples : 0;
	}
	return 0;
}

static int copy_row(struct compaction *c, const struct last_row *old)
{
	struct last_row row = *old;
	uint32_t id = new_count(c, old->count - 1);
	struct last_row *place;

#define COPY(member, NAME) row.rec.member = live_copy_id(&c->copy, REC_##NAME, old->rec.member);
	SAMPLE_REFERENCES(COPY)
#undef COPY
	place = id == IX_NONE ? NULL : last_rows_at(&c->last, row.rec.thread);
	if (!place)
		return -ENOMEM;
	row.count = id + 1;
	*place = row;
	return 0;
}

static int copy_rows(struct compaction *c)
{
	int err = 0;

	for (size_t thread = 0; thread < c->l->last.nr_threads && !err; thread++) {
		const struct last_row *row = last_rows_find(&c->l->last, (uint32_t)thread);

		if (row && live_row_is_there(c->l, row))
			err = copy_row(c, row);
	}
	return err;
}

/* ---- windows ---- */

static double growth_share(const struct compaction *c, const struct live_growth *g)
{
	return live_share(c->l, c->l->counts.v[g->id].event, g->weight);
}

static int begin_window(void *compaction, const struct live_window *win, size_t index)
{
	struct compaction *c = compaction;

	c->is_old = index < c->fates.first_recent;
	if (!c->is_old)
		return 0;
	if (array_reserve(&c->room, &c->cap_room, win->nr))
		return -ENOMEM;
	for (size_t i = 0; i < win->nr; i++)
		c->room[i] = growth_share(c, &win->v[i]);
	largest_init(&c->largest, c->room, win->nr, c->kept_growths);
	return 0;
}

static uint32_t id_of(void *compaction, const struct live_growth *g)
{
	struct compaction *c = compaction;

	if (c->is_old &&
	    (c->fates.v[g->id] == FATE_FOLDED || !largest_has(&c->largest, growth_share(c, g))))
		return folded_count(c, g->id);
	return new_count(c, g->id);
}

static int copy_windows(struct compaction *c)
{
	const struct live_rewrite how = { begin_window, id_of, c };
	size_t keep = (c->l->limits.growths / 6) >> c->l->thrift;

	c->kept_growths = c->fates.first_recent ? keep / c->fates.first_recent : 0;
	if (c->kept_growths < LEAST_GROWTHS)
		c->kept_growths = LEAST_GROWTHS;
	return live_windows_rewrite(&c->l->windows, &how);
}

/* ---- all of it ---- */

static void swap_counts(struct compaction *c)
{
	struct live_profile *l = c->l;
	struct live_ids ids = l->ids;
	struct live_counts counts = l->counts;
	struct last_rows last = l->last;
	struct live_event *events = l->events;

	l->ids = c->ids;
	l->counts = c->counts;
	l->last = c->last;
	l->events = c->events;
	l->nr_events = c->nr_events;
	l->cap_events = c->cap_events;
	l->folded += c->folded;
	l->epoch++;
	c->ids = ids;
	c->counts = counts;
	c->last = last;
	c->events = events;
}

/* Half as much again may come before all of it is copied once more. */
static size_t at_least(size_t limit, size_t now)
{
	return now + now / 2 > limit ? now + now / 2 : limit;
}

/*
 * If stacks take more room than was meant, less of them is kept the next time. That is only known
 * at the beginning of a part, whose own definitions have to stay.
 */
static void set_thrift(struct live_profile *l, size_t bytes)
{
	if (l->ids.kinds[REC_NODE].nr_own)
		return;
	if (bytes > l->limits.bytes / 2 && l->thrift < MOST_THRIFT)
		l->thrift++;
	else if (bytes < l->limits.bytes / 4 && l->thrift)
		l->thrift--;
}

static void set_marks(struct live_profile *l)
{
	size_t bytes = live_ids_bytes(&l->ids);

	set_thrift(l, bytes);
	l->marks.counts = at_least(l->limits.counts, l->counts.nr);
	l->marks.growths = at_least(l->limits.growths, l->windows.nr_growths);
	l->marks.bytes = at_least(l->limits.bytes, bytes);
}

static int copy_claims(struct compaction *c)
{
	return live_ids_reclaim(&c->ids);
}

static int copy_all(struct compaction *c)
{
	static int (*const steps[])(struct compaction *c) = {
		copy_events, copy_segment, copy_counts, copy_rows, copy_windows, copy_claims,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !err; i++)
		err = c->copy.failed ? -ENOMEM : steps[i](c);
	return err || c->copy.failed ? -ENOMEM : 0;
}

int live_profile_compact(struct live_profile *l)
{
	struct compaction c;
	int err = begin(&c, l);

	if (!err)
		err = copy_all(&c);
	if (!err)
		swap_counts(&c);
	release(&c);
	memory_give_back();
	if (!err) {
		wall_clock_thin_out(&l->clock, MOST_CLOCKS);
		set_marks(l);
	}
	return err;
}

int live_profile_tidy(struct live_profile *l, bool begins_part)
{
	const struct live_marks *m = &l->marks;
	unsigned share = begins_part ? 3 : 4;

	l->look = 0;
	if (l->counts.nr <= m->counts / 4 * share &&
	    l->windows.nr_growths <= m->growths / 4 * share &&
	    live_ids_bytes(&l->ids) <= m->bytes / 4 * share)
		return 0;
	return live_profile_compact(l);
}
