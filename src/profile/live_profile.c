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
#include "src/profile/live_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/fold.h"
#include "src/profile/live_windows.h"
#include "src/profile/profile.h"
#include "src/profile/report.h"
#include "src/profile/report_text.h"
#include "src/profile/state_words.h"
#include "src/profile/trace_events.h"
#include "src/profile/trace_summary.h"
#include "src/profile/wall_clock.h"
#include "src/profile/weight_text.h"

/* The last row of a scan that a thread had; a REPEAT counts it again. */
struct last_row {
	uint32_t count;			/* index plus 1; 0: it had none */
	uint64_t weight;
	struct rec_sample rec;		/* with the time and scan of the last REPEAT */
};

struct live_profile {
	struct definition_store *tables;
	struct wall_clock clock;
	struct trace_summary summary;	/* of everything but samples */
	struct live_count *counts;
	size_t nr_counts, cap_counts;
	struct hash_index index;	/* of counts */
	struct live_event *events;	/* by id */
	size_t nr_events, cap_events;
	struct last_row *last;		/* by thread */
	size_t nr_last, cap_last;
	struct live_windows windows;
	uint32_t scan;			/* the newest */
	unsigned futex;			/* activity_futex() of this machine */
	uint64_t samples, first_ns;	/* time of the first sample */
	uint64_t begin_ns, end_ns;	/* of the recording, as far as known; 0: not yet */
};

int live_profile_new(struct live_profile **lp)
{
	struct live_profile *l = calloc(1, sizeof(*l));

	*lp = NULL;
	if (l)
		l->tables = definition_store_new();
	if (!l || !l->tables) {
		free(l);
		return -ENOMEM;
	}
	trace_summary_init(&l->summary);
	*lp = l;
	return 0;
}

void live_profile_free(struct live_profile *l)
{
	if (!l)
		return;
	definition_store_free(l->tables);
	wall_clock_release(&l->clock);
	trace_summary_release(&l->summary);
	free(l->counts);
	ix_release(&l->index);
	free(l->events);
	free(l->last);
	live_windows_release(&l->windows);
	free(l);
}

struct count_key {
	const struct live_count *v;
	const struct live_count *key;
};

static bool same_count(const void *ctx, uint32_t id)
{
	const struct count_key *k = ctx;
	const struct live_count *a = &k->v[id], *b = k->key;

	return a->ustack == b->ustack && a->kstack == b->kstack && a->thread == b->thread &&
	       a->event == b->event && a->end == b->end && a->flags == b->flags &&
	       a->activity == b->activity;
}

/* Index of the count of samples like this one, made if it is new; IX_NONE: out of memory. */
static uint32_t find_count(struct live_profile *l, const struct rec_sample *s)
{
	struct live_count key = { .event = s->event,
				  .thread = s->thread,
				  .kstack = s->kstack,
				  .ustack = s->ustack,
				  .end = s->end,
				  .flags = s->flags & SAMPLE_HAS_GUESS,
				  .activity = (uint8_t)sample_activity(s, l->futex) };
	struct count_key k = { l->counts, &key };
	uint64_t hash = hash_u64(hash_u64((uint64_t)s->event << 32 | s->thread,
					  (uint64_t)key.activity << 40 |
						  (uint64_t)key.flags << 8 | key.end),
				 (uint64_t)s->kstack << 32 | s->ustack);
	uint32_t id = ix_find(&l->index, hash, same_count, &k);
	struct live_count *c;

	if (id != IX_NONE)
		return id;
	if (l->nr_counts >= IX_NONE - 2)
		return IX_NONE;
	c = array_push(&l->counts, &l->nr_counts, &l->cap_counts);
	if (!c)
		return IX_NONE;
	*c = key;
	id = (uint32_t)l->nr_counts - 1;
	return ix_add(&l->index, hash, id) ? IX_NONE : id;
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
	struct live_count *c = &l->counts[id];

	c->samples++;
	c->weight = weight_sum(c->weight, weight);
	l->events[c->event].samples++;
	l->events[c->event].weight = weight_sum(l->events[c->event].weight, weight);
	return live_windows_add(&l->windows, time_ns, id, 1, weight);
}

static uint64_t weight_of(const struct live_profile *l, const struct rec_sample *s)
{
	const struct rec_event *e =
		s->weight ? NULL : definition_store_find_event(l->tables, s->event);

	return e ? e->period : s->weight;
}

static int add_sample(struct live_profile *l, const struct rec_sample *s)
{
	uint64_t weight = weight_of(l, s);
	uint32_t id = find_count(l, s);

	if (id == IX_NONE || array_reserve(&l->events, &l->cap_events, (size_t)s->event + 1))
		return -ENOMEM;
	if (s->event >= l->nr_events)
		l->nr_events = (size_t)s->event + 1;
	note_sample(l, s->time_ns);
	if (count_one(l, id, weight, s->time_ns))
		return -ENOMEM;
	if (!s->scan)
		return 0;
	if (array_reserve(&l->last, &l->cap_last, (size_t)s->thread + 1))
		return -ENOMEM;
	if (s->thread >= l->nr_last)
		l->nr_last = (size_t)s->thread + 1;
	l->last[s->thread] = (struct last_row){ id + 1, weight, *s };
	if (s->scan > l->scan)
		l->scan = s->scan;
	return 0;
}

static int add_run(struct live_profile *l, const struct rec_run *run, const struct rec_repeat *rep)
{
	uint64_t end = (uint64_t)run->thread + run->nr;

	if (rep->scan > l->scan)
		l->scan = rep->scan;
	for (uint64_t t = run->thread; t < end && t < l->nr_last; t++) {
		struct last_row *row = &l->last[t];

		if (!row->count)
			continue;
		row->rec.time_ns = rep->time_ns;
		row->rec.scan = rep->scan;
		note_sample(l, rep->time_ns);
		if (count_one(l, row->count - 1, row->weight, rep->time_ns))
			return -ENOMEM;
	}
	return 0;
}

/* What a record tells that is no sample. */
static int add_fact(struct live_profile *l, const struct record *rec)
{
	int err = definition_store_record(l->tables, rec);

	if (!err && rec->tag == REC_CLOCK) {
		note_time(l, rec->clock.mono_ns);
		err = wall_clock_add(&l->clock, &rec->clock);
	}
	if (rec->tag == REC_END)	/* clocks are told for as long as names are looked for */
		l->end_ns = rec->end.time_ns;
	if (!err)
		err = trace_summary_record(&l->summary, 0, l->tables, rec);
	if (!err && rec->tag == REC_META && !l->futex)
		l->futex = activity_futex(live_profile_meta(l, "arch"));
	return err;
}

int live_profile_record(void *live_profile, const struct record *rec)
{
	struct live_profile *l = live_profile;
	int err = 0;

	if (rec->tag == REC_SAMPLE)
		return add_sample(l, &rec->sample);
	if (rec->tag != REC_REPEAT)
		return add_fact(l, rec);
	for (uint32_t i = 0; i < rec->repeat.nr_runs && !err; i++)
		err = add_run(l, &rec->repeat.runs[i], &rec->repeat);
	return err;
}

const struct live_event *live_profile_events(const struct live_profile *l, size_t *nr)
{
	*nr = l->nr_events;
	return l->events;
}

const struct definition_store *live_profile_tables(const struct live_profile *l)
{
	return l->tables;
}

/* Adds so many samples of a count, which weigh so much, to the tree. */
static int fold_count(const struct live_profile *l, const struct live_count *c, uint64_t samples,
		      uint64_t weight, struct fold *f)
{
	struct rec_sample rec = { .event = c->event,
				  .thread = c->thread,
				  .kstack = c->kstack,
				  .ustack = c->ustack,
				  .end = c->end,
				  .flags = c->flags };
	struct report_sample s = { .rec = &rec, .tables = l->tables, .weight = weight };

	s.thread = definition_store_find_thread(l->tables, c->thread);
	if (s.thread)
		s.process = definition_store_find_process(l->tables, s.thread->process);
	return fold_counted(f, &s, samples);
}

bool live_profile_wants(const struct live_profile *l, const struct live_choice *which,
			const struct live_kind *kind)
{
	const struct rec_thread *t;
	const struct rec_process *p;

	if (which->activities && !(which->activities & 1u << kind->activity))
		return false;
	if (!which->tid && !which->tgid)
		return true;
	t = definition_store_find_thread(l->tables, kind->thread);
	p = t ? definition_store_find_process(l->tables, t->process) : NULL;
	return t && (!which->tid || t->tid == which->tid) &&
	       (!which->tgid || (p && p->tgid == which->tgid));
}

const struct live_count *live_profile_counts(const struct live_profile *l, size_t *nr)
{
	*nr = l->nr_counts;
	return l->counts;
}

struct live_kind live_profile_kind(const struct live_profile *l, uint32_t id)
{
	const struct live_count *c = &l->counts[id];

	return (struct live_kind){ c->event, c->thread, c->activity };
}

/* A count that passes has its index in wanted, which has room for all. */
static void mark_wanted(const struct live_profile *l, uint32_t event,
			const struct live_choice *which, uint8_t *wanted)
{
	for (size_t i = 0; i < l->nr_counts; i++) {
		struct live_kind kind = live_profile_kind(l, (uint32_t)i);

		wanted[i] = kind.event == event && live_profile_wants(l, which, &kind);
	}
}

/* What is left of so many samples or weights of a window. */
static uint64_t decayed(uint64_t n, const struct live_window *w, const struct live_choice *which)
{
	uint64_t age = which->now_ns > w->end_ns ? which->now_ns - w->end_ns : 0;
	double left = (double)n;

	if (!which->decay_ns)
		return n;
	for (age /= which->decay_ns; age && left >= 1; age--)
		left *= 0.75;
	return (uint64_t)left;
}

/* The growth of windows within the times that are chosen. */
static int fold_windows(const struct live_profile *l, const struct live_choice *which,
			const uint8_t *wanted, struct fold *f)
{
	int err = 0;

	for (size_t i = 0; i < l->windows.nr; i++) {
		const struct live_window *w = &l->windows.v[i];

		if (w->begin_ns < which->from_ns || (which->to_ns && w->end_ns > which->to_ns))
			continue;
		for (size_t k = 0; k < w->nr && !err; k++) {
			const struct live_growth *g = &w->v[k];
			uint64_t weight = decayed(g->weight, w, which);

			if (wanted[g->id] && weight)
				err = fold_count(l, &l->counts[g->id],
						 decayed(g->samples, w, which) ?: 1, weight, f);
		}
	}
	return err;
}

/* Adds the counts of the event that are wanted to the tree. */
static int fold_counts(const struct live_profile *l, uint32_t event,
		       const struct live_choice *which, struct fold *f)
{
	uint8_t *wanted = malloc(l->nr_counts + 1);
	int err = wanted ? 0 : -ENOMEM;

	if (!err)
		mark_wanted(l, event, which, wanted);
	if (!err && (which->from_ns || which->to_ns || which->decay_ns))
		err = fold_windows(l, which, wanted, f);
	else
		for (size_t i = 0; i < l->nr_counts && !err; i++)
			if (wanted[i])
				err = fold_count(l, &l->counts[i], l->counts[i].samples,
						 l->counts[i].weight, f);
	free(wanted);
	return err;
}

static const char *keep(struct profile *p, const char *s, bool *failed)
{
	uint32_t id = intern_str(p->names, s);

	*failed |= id == IX_NONE;
	return id == IX_NONE ? "" : intern_get(p->names, id, NULL);
}

const char *live_profile_meta(const struct live_profile *l, const char *key)
{
	for (size_t i = l->summary.nr_metas; i-- > 0;)
		if (!strcmp(l->summary.metas[i].key, key))
			return l->summary.metas[i].value;
	return "";
}

static void count_frames(const struct live_profile *l, struct profile_facts *facts)
{
	uint32_t end = definition_store_id_end(l->tables, REC_FRAME);

	for (uint32_t id = 1; id < end; id++) {
		const struct table_symbol *sym = definition_store_find_symbol(l->tables, id);

		if (!definition_store_find_frame(l->tables, id))
			continue;
		facts->frames++;
		facts->frames_unnamed += !sym || !sym->nr_lines;
	}
}

/* Says in words what is shown. */
static void tell_amount(const struct live_profile *l, uint32_t event, struct profile *p,
			bool *failed)
{
	const struct rec_event *e = definition_store_find_event(l->tables, event);
	struct trace_event shown = {
		.name = definition_store_string(l->tables, e ? e->name : 0, NULL),
		.unit = definition_store_string(l->tables, e ? e->unit : 0, NULL),
		.kind = e ? e->kind : EVENT_KINDS,
	};
	struct report_amount amount = { &shown, p->facts.samples, p->facts.weight,
					l->summary.info.scans.count };
	char text[512];

	report_amount_text(&amount, text, sizeof(text));
	p->facts.amount = keep(p, text, failed);
	report_title_text("", &amount, text, sizeof(text));
	p->facts.title = keep(p, text, failed);
	p->facts.event = p->facts.shown = keep(p, shown.name, failed);
	p->facts.noun = event_is_wall_time(shown.kind) ? "thread states" : "samples";
	p->facts.thing = event_is_wall_time(shown.kind) ? "thread states" : p->facts.event;
	p->facts.unit = keep(p, shown.unit, failed);
}

/*
 * Fills the facts as report_facts() does, except that a missing END record is not a warning here.
 */
static int fill_facts(const struct live_profile *l, uint32_t event, struct profile *p)
{
	const struct report_info *info = &l->summary.info;
	struct profile_facts *f = &p->facts;
	bool failed = false;
	char text[768];

	f->host = keep(p, live_profile_meta(l, "host"), &failed);
	f->kernel = keep(p, live_profile_meta(l, "kernel.release"), &failed);
	f->tool = keep(p, live_profile_meta(l, "tool"), &failed);
	f->argv = keep(p, live_profile_meta(l, "argv"), &failed);
	tell_amount(l, event, p, &failed);
	f->begin_real_ns = l->samples ? wall_clock_real(&l->clock, l->first_ns) : 0;
	f->duration_ns = l->end_ns - l->begin_ns;
	f->samples_total = event < l->nr_events ? l->events[event].samples : 0;
	f->lost = info->lost_samples;
	report_warning_text(info, text, sizeof(text));
	f->warning = keep(p, text, &failed);
	report_scans_text(&info->scans, text, sizeof(text));
	f->scans = keep(p, text, &failed);
	f->scan_sums = info->scans;
	f->hidden = "";
	count_frames(l, f);
	return failed ? -ENOMEM : 0;
}

static const struct definition_store *tables_of(const void *live_profile, uint32_t segment)
{
	const struct live_profile *l = live_profile;

	return segment ? NULL : l->tables;
}

int live_profile_choose(const struct live_profile *l, uint32_t event,
			const struct live_choice *which, const struct fold_options *opts,
			struct profile **pp)
{
	struct fold *f;
	int err = fold_new(opts, &f);

	*pp = NULL;
	if (!err)
		err = fold_counts(l, event, which, f);
	if (!err)
		err = fold_take(f, tables_of, l, pp);
	if (!err)
		err = fill_facts(l, event, *pp);
	if (err) {
		profile_free(*pp);
		*pp = NULL;
	}
	fold_free(f);
	return err;
}

int live_profile_read(const struct live_profile *l, uint32_t event, const struct fold_options *opts,
		      struct profile **pp)
{
	return live_profile_choose(l, event, &(struct live_choice){ .tid = 0 }, opts, pp);
}

const struct rec_sample *live_profile_row(const struct live_profile *l, uint32_t thread)
{
	return thread < l->nr_last && l->last[thread].count ? &l->last[thread].rec : NULL;
}

uint32_t live_profile_threads(const struct live_profile *l)
{
	return (uint32_t)l->nr_last;
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
