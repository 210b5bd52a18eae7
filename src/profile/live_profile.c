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
#include "src/profile/profile.h"
#include "src/profile/report.h"
#include "src/profile/report_text.h"
#include "src/profile/trace_events.h"
#include "src/profile/trace_summary.h"
#include "src/profile/wall_clock.h"
#include "src/profile/weight_text.h"

/* The number of equal samples: those of one thread, event, pair of stacks and end. */
struct live_count {
	uint32_t event, thread, kstack, ustack;
	uint8_t end;			/* enum stack_end */
	uint8_t flags;			/* SAMPLE_HAS_GUESS */
	uint64_t samples, weight;
};

/* The last row of a scan that a thread had; a REPEAT counts it again. */
struct last_row {
	uint32_t count;			/* index plus 1; 0: it had none */
	uint64_t weight;
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
	size_t cap_last;
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
	       a->event == b->event && a->end == b->end && a->flags == b->flags;
}

/* Index of the count of samples like this one, made if it is new; IX_NONE: out of memory. */
static uint32_t find_count(struct live_profile *l, const struct rec_sample *s)
{
	struct live_count key = { .event = s->event,
				  .thread = s->thread,
				  .kstack = s->kstack,
				  .ustack = s->ustack,
				  .end = s->end,
				  .flags = s->flags & SAMPLE_HAS_GUESS };
	struct count_key k = { l->counts, &key };
	uint64_t hash = hash_u64(hash_u64((uint64_t)s->event << 32 | s->thread,
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

static void count_one(struct live_profile *l, uint32_t id, uint64_t weight)
{
	struct live_count *c = &l->counts[id];

	c->samples++;
	c->weight = weight_sum(c->weight, weight);
	l->events[c->event].samples++;
	l->events[c->event].weight = weight_sum(l->events[c->event].weight, weight);
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
	count_one(l, id, weight);
	if (!s->scan)
		return 0;
	if (array_reserve(&l->last, &l->cap_last, (size_t)s->thread + 1))
		return -ENOMEM;
	l->last[s->thread] = (struct last_row){ id + 1, weight };
	return 0;
}

static void add_run(struct live_profile *l, const struct rec_run *run, uint64_t time_ns)
{
	uint64_t end = (uint64_t)run->thread + run->nr;

	for (uint64_t t = run->thread; t < end && t < l->cap_last; t++) {
		if (!l->last[t].count)
			continue;
		note_sample(l, time_ns);
		count_one(l, l->last[t].count - 1, l->last[t].weight);
	}
}

int live_profile_record(void *live_profile, const struct record *rec)
{
	struct live_profile *l = live_profile;
	int err;

	if (rec->tag == REC_SAMPLE)
		return add_sample(l, &rec->sample);
	for (uint32_t i = 0; rec->tag == REC_REPEAT && i < rec->repeat.nr_runs; i++)
		add_run(l, &rec->repeat.runs[i], rec->repeat.time_ns);
	if (rec->tag == REC_REPEAT)
		return 0;
	err = definition_store_record(l->tables, rec);
	if (!err && rec->tag == REC_CLOCK) {
		note_time(l, rec->clock.mono_ns);
		err = wall_clock_add(&l->clock, &rec->clock);
	}
	if (rec->tag == REC_END)	/* clocks are told for as long as names are looked for */
		l->end_ns = rec->end.time_ns;
	return err ? err : trace_summary_record(&l->summary, 0, l->tables, rec);
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

/* Adds all counts of the event to the tree. */
static int fold_counts(const struct live_profile *l, uint32_t event, struct fold *f)
{
	int err = 0;

	for (size_t i = 0; i < l->nr_counts && !err; i++) {
		const struct live_count *c = &l->counts[i];
		struct rec_sample rec = { .event = c->event,
					  .thread = c->thread,
					  .kstack = c->kstack,
					  .ustack = c->ustack,
					  .end = c->end,
					  .flags = c->flags };
		struct report_sample s = { .rec = &rec, .tables = l->tables, .weight = c->weight };

		if (c->event != event)
			continue;
		s.thread = definition_store_find_thread(l->tables, c->thread);
		err = fold_counted(f, &s, c->samples);
	}
	return err;
}

static const char *keep(struct profile *p, const char *s, bool *failed)
{
	uint32_t id = intern_str(p->names, s);

	*failed |= id == IX_NONE;
	return id == IX_NONE ? "" : intern_get(p->names, id, NULL);
}

/* The last value of a key, as a later one replaces it; "" if there is none. */
static const char *meta(const struct live_profile *l, const char *key)
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

	f->host = keep(p, meta(l, "host"), &failed);
	f->kernel = keep(p, meta(l, "kernel.release"), &failed);
	f->tool = keep(p, meta(l, "tool"), &failed);
	f->argv = keep(p, meta(l, "argv"), &failed);
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

int live_profile_read(const struct live_profile *l, uint32_t event, const struct fold_options *opts,
		      struct profile **pp)
{
	struct fold *f;
	int err = fold_new(opts, &f);

	*pp = NULL;
	if (!err)
		err = fold_counts(l, event, f);
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
