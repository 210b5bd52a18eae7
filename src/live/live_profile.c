/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a profile is kept up to date while it is recorded.
 *
 * Each record passes through here on its way to the trace, so the work per sample delays the
 * recording. Building the call tree sample by sample would cost a look-up of each frame and of its
 * names, which are often not known yet. So two things are separated:
 *
 *	a sample arrives	Its {event, thread, user stack, kernel stack, end} are ids. They are
 *				hashed to a count, to which 1 and the sample's weight are added.
 *	the tree is read	All counts of the event are folded (fold.h), with the definitions
 *				that have arrived by now, as if they were the samples of a trace.
 *
 * Example: thread 7 is sampled 1,000 times in stack 52, whose innermost frame has no name yet. They
 * are one count, {7, 52} -> 1,000. A tree that is read now shows the address of the frame; when its
 * SYMBOL record has come, the next tree shows the function, and the count stays as it is.
 *
 * Threads are told apart in the counts although the tree has only their names, so that views of a
 * single thread need no other counts than these.
 *
 * A REPEAT says that threads have not changed since the scan before. last[thread] is the count of
 * the thread's last row of a scan, so repeating the row costs one addition.
 *
 * Limits: nothing is forgotten. Reading the tree takes time in proportion to all counts, also when
 * only a few have changed since it was last read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile_parts.h"
#include "src/report/state_words.h"
#include "src/report/weight_text.h"

enum {
	LOOK_EACH = 1024,		/* records between two looks at the limits */
	MANY_METAS = 1000,		/* then values that come again do not replace others */
};

static const struct live_limits default_limits = {
	.counts = 80000, .growths = 240000, .bytes = 14 << 20, .recent_ns = 180000000000ull,
};

int live_profile_new(struct live_profile **lp)
{
	struct live_profile *l = calloc(1, sizeof(*l));

	*lp = NULL;
	if (!l || live_ids_init(&l->ids)) {
		free(l);
		return -ENOMEM;
	}
	trace_summary_init(&l->summary);
	live_profile_limit(l, &default_limits);
	*lp = l;
	return 0;
}

void live_profile_limit(struct live_profile *l, const struct live_limits *limits)
{
	const struct live_limits *d = &default_limits;

	l->limits.counts = limits->counts ? limits->counts : d->counts;
	l->limits.growths = limits->growths ? limits->growths : d->growths;
	l->limits.bytes = limits->bytes ? limits->bytes : d->bytes;
	l->limits.recent_ns = limits->recent_ns ? limits->recent_ns : d->recent_ns;
	l->marks = (struct live_marks){ l->limits.counts, l->limits.growths, l->limits.bytes };
}

void live_profile_free(struct live_profile *l)
{
	if (!l)
		return;
	live_ids_release(&l->ids);
	wall_clock_release(&l->clock);
	trace_summary_release(&l->summary);
	live_counts_release(&l->counts);
	free(l->events);
	last_rows_release(&l->last);
	live_windows_release(&l->windows);
	free(l);
}

/* ---- counts ---- */

/* Index of the count of samples like this one. */
static uint32_t find_count(struct live_profile *l, const struct rec_sample *s)
{
	const struct live_count key = { .event = s->event,
					.thread = s->thread,
					.kstack = s->kstack,
					.ustack = s->ustack,
					.end = s->end,
					.flags = s->flags & SAMPLE_HAS_GUESS,
					.activity = (uint8_t)sample_activity(s, l->futex) };

	return live_counts_find(&l->counts, &key);
}

static void note_time(struct live_profile *l, uint64_t time_ns)
{
	if (!l->begin_ns || time_ns < l->begin_ns)
		l->begin_ns = time_ns;
	if (time_ns > l->end_ns)
		l->end_ns = time_ns;
}

static void note_sample(struct live_profile *l, uint64_t time_ns)
{
	if (!l->samples++ || time_ns < l->first_ns)
		l->first_ns = time_ns;
	note_time(l, time_ns);
}

static int count_one(struct live_profile *l, uint32_t id, uint64_t weight, uint64_t time_ns)
{
	struct live_count *c = &l->counts.v[id];

	c->samples++;
	c->weight = weight_sum(c->weight, weight);
	l->events[c->event].samples++;
	l->events[c->event].weight = weight_sum(l->events[c->event].weight, weight);
	return live_windows_add(&l->windows, time_ns, id, 1, weight);
}

static uint64_t weight_of(const struct live_profile *l, const struct rec_sample *s)
{
	const struct rec_event *e =
		s->weight ? NULL : definition_store_find_event(l->ids.store, s->event);

	return e ? e->period : s->weight;
}

/* Numbers ascend through all parts, whether those of the recorder begin anew or not. */
static uint32_t own_scan(struct live_profile *l, uint32_t scan)
{
	uint32_t own;

	if (!l->has_scan && (scan < l->part_scan || (scan == 1 && l->part_scan == 1)))
		l->scan_before = l->scan + 1 - scan;
	if (!l->has_scan || scan > l->part_scan)
		l->part_scan = scan;
	l->has_scan = true;
	own = l->scan_before + scan;
	own = own ? own : UINT32_MAX;
	if (own > l->scan)
		l->scan = own;
	return own;
}

/* A sample with own ids. */
static int add_sample(struct live_profile *l, struct rec_sample *s)
{
	uint64_t weight = weight_of(l, s);
	uint32_t id = find_count(l, s);
	struct last_row *row;

	if (id == IX_NONE || array_reserve(&l->events, &l->cap_events, (size_t)s->event + 1))
		return -ENOMEM;
	if (s->event >= l->nr_events)
		l->nr_events = (size_t)s->event + 1;
	note_sample(l, s->time_ns);
	if (count_one(l, id, weight, s->time_ns))
		return -ENOMEM;
	if (!s->scan)
		return 0;
	s->scan = own_scan(l, s->scan);
	row = last_rows_at(&l->last, s->thread);
	if (!row)
		return -ENOMEM;
	*row = (struct last_row){ id + 1, l->segment, weight, *s };
	return 0;
}

/* The last row of a thread of this part; NULL: it had none. */
static struct last_row *find_row(const struct live_profile *l, uint32_t thread)
{
	uint32_t own = live_ids_own(&l->ids, REC_THREAD, thread);
	struct last_row *row = own ? last_rows_find(&l->last, own) : NULL;

	return row && row->segment == l->segment ? row : NULL;
}

static int add_run(struct live_profile *l, const struct rec_run *run, const struct rec_repeat *rep)
{
	uint64_t end = (uint64_t)run->thread + run->nr;
	uint32_t scan = own_scan(l, rep->scan);

	if (end > l->ids.kinds[REC_THREAD].nr_own)
		end = l->ids.kinds[REC_THREAD].nr_own;
	for (uint64_t t = run->thread; t < end; t++) {
		struct last_row *row = find_row(l, (uint32_t)t);

		if (!row)
			continue;
		row->rec.time_ns = rep->time_ns;
		row->rec.scan = scan;
		note_sample(l, rep->time_ns);
		if (count_one(l, row->count - 1, row->weight, rep->time_ns))
			return -ENOMEM;
	}
	return 0;
}

/* In later parts all is said again, so a value replaces the earlier one. */
static int add_meta(struct live_profile *l, const struct record *rec)
{
	int err;

	if (l->segment && l->summary.nr_metas < MANY_METAS)
		trace_summary_forget_meta(&l->summary, rec->meta.key);
	err = trace_summary_record(&l->summary, l->segment, l->ids.store, rec);
	if (!err && !l->futex)
		l->futex = activity_futex(live_profile_meta(l, "arch"));
	return err;
}

/* What a record tells that is no sample. */
static int add_fact(struct live_profile *l, const struct record *rec)
{
	int err = live_ids_take(&l->ids, rec);

	if (!err && rec->tag == REC_CLOCK) {
		note_time(l, rec->clock.mono_ns);
		err = wall_clock_add(&l->clock, &rec->clock);
	}
	if (rec->tag == REC_END)	/* clocks are told for as long as names are looked for */
		l->end_ns = rec->end.time_ns;
	if (!err && rec->tag == REC_META)
		return add_meta(l, rec);
	if (!err)
		err = trace_summary_record(&l->summary, l->segment, l->ids.store, rec);
	return err;
}

int live_profile_record(void *live_profile, const struct record *rec)
{
	struct live_profile *l = live_profile;
	struct rec_sample own;
	int err = 0;

	if (rec->tag == REC_SAMPLE)
		err = live_ids_sample(&l->ids, &rec->sample, &own) ?: add_sample(l, &own);
	else if (rec->tag != REC_REPEAT)
		err = add_fact(l, rec);
	else
		for (uint32_t i = 0; i < rec->repeat.nr_runs && !err; i++)
			err = add_run(l, &rec->repeat.runs[i], &rec->repeat);
	if (!err && ++l->look >= LOOK_EACH)
		err = live_profile_tidy(l, false);
	return err;
}

int live_profile_begin_part(struct live_profile *l)
{
	live_ids_begin_segment(&l->ids);
	l->segment++;
	l->has_scan = false;
	return live_profile_tidy(l, true);
}

const struct live_event *live_profile_events(const struct live_profile *l, size_t *nr)
{
	*nr = l->nr_events;
	return l->events;
}

const struct definition_store *live_profile_tables(const struct live_profile *l)
{
	return l->ids.store;
}

const char *live_profile_meta(const struct live_profile *l, const char *key)
{
	for (size_t i = l->summary.nr_metas; i-- > 0;)
		if (!strcmp(l->summary.metas[i].key, key))
			return l->summary.metas[i].value;
	return "";
}

const struct rec_sample *live_profile_row(const struct live_profile *l, uint32_t thread)
{
	const struct last_row *row = last_rows_find(&l->last, thread);

	return row ? &row->rec : NULL;
}

uint32_t live_profile_threads(const struct live_profile *l)
{
	return (uint32_t)l->last.nr_threads;
}

uint32_t live_profile_epoch(const struct live_profile *l)
{
	return l->epoch;
}

uint64_t live_profile_folded(const struct live_profile *l)
{
	return l->folded;
}

uint32_t live_profile_parts(const struct live_profile *l)
{
	return l->segment + 1;
}

uint32_t live_profile_scan(const struct live_profile *l)
{
	return l->scan;
}

const struct live_windows *live_profile_windows(const struct live_profile *l)
{
	return &l->windows;
}

const struct report_info *live_profile_info(const struct live_profile *l)
{
	return &l->summary.info;
}

uint64_t live_profile_date(const struct live_profile *l, uint64_t time_ns)
{
	return wall_clock_real(&l->clock, time_ns);
}

void live_profile_times(const struct live_profile *l, uint64_t *begin_ns, uint64_t *end_ns)
{
	*begin_ns = l->begin_ns;
	*end_ns = l->end_ns;
}
