/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the counts of a live profile become a call tree, and what it says about itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/fold.h"
#include "src/live/live_profile_parts.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/report_text.h"
#include "src/report/state_words.h"
#include "src/report/trace_events.h"
#include "src/report/weight_text.h"

/* What is left of the state of a thread: whether it slept. */
static uint8_t state_of(const struct live_count *c)
{
	if (c->activity == ACTIVITY_SLEEPING || c->activity == ACTIVITY_LOCK)
		return TASK_SLEEPING;
	return c->activity == ACTIVITY_IDLE_KERNEL ? TASK_IDLE : TASK_STATE_UNKNOWN;
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
				  .state = state_of(c),
				  .flags = c->flags };
	struct report_sample s = { .rec = &rec, .tables = l->ids.store, .weight = weight };

	s.thread = definition_store_find_thread(l->ids.store, c->thread);
	if (s.thread)
		s.process = definition_store_find_process(l->ids.store, s.thread->process);
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
	t = definition_store_find_thread(l->ids.store, kind->thread);
	p = t ? definition_store_find_process(l->ids.store, t->process) : NULL;
	return t && (!which->tid || t->tid == which->tid) &&
	       (!which->tgid || (p && p->tgid == which->tgid));
}

const struct live_count *live_profile_counts(const struct live_profile *l, size_t *nr)
{
	*nr = l->counts.nr;
	return l->counts.v;
}

struct live_kind live_profile_kind(const struct live_profile *l, uint32_t id)
{
	const struct live_count *c = &l->counts.v[id];

	return (struct live_kind){ c->event, c->thread, c->activity };
}

/* A count that passes has its index in wanted, which has room for all. */
static void mark_wanted(const struct live_profile *l, uint32_t event,
			const struct live_choice *which, uint8_t *wanted)
{
	for (size_t i = 0; i < l->counts.nr; i++) {
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

/* Adds what a window has of the counts that are wanted. */
static void add_window(const struct live_window *w, const struct live_choice *which,
		       const uint8_t *wanted, struct live_event *sums)
{
	for (size_t k = 0; k < w->nr; k++) {
		const struct live_growth *g = &w->v[k];
		uint64_t weight = decayed(g->weight, w, which);

		if (!wanted[g->id] || !weight)
			continue;
		sums[g->id].samples += decayed(g->samples, w, which) ?: 1;
		sums[g->id].weight = weight_sum(sums[g->id].weight, weight);
	}
}

/*
 * The growth of windows within the times that are chosen. It is summed by count before anything is
 * folded, because a thread that sleeps has a growth in each window.
 */
static int fold_windows(const struct live_profile *l, const struct live_choice *which,
			const uint8_t *wanted, struct fold *f)
{
	struct live_event *sums = calloc(l->counts.nr + 1, sizeof(*sums));
	int err = sums ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->windows.nr && !err; i++) {
		const struct live_window *w = &l->windows.v[i];

		if (w->begin_ns >= which->from_ns && (!which->to_ns || w->end_ns <= which->to_ns))
			add_window(w, which, wanted, sums);
	}
	for (size_t i = 0; i < l->counts.nr && !err; i++)
		if (sums[i].samples)
			err = fold_count(l, &l->counts.v[i], sums[i].samples, sums[i].weight, f);
	free(sums);
	return err;
}

/* Adds the counts of the event that are wanted to the tree. */
static int fold_counts(const struct live_profile *l, uint32_t event,
		       const struct live_choice *which, struct fold *f)
{
	uint8_t *wanted = malloc(l->counts.nr + 1);
	int err = wanted ? 0 : -ENOMEM;

	if (!err)
		mark_wanted(l, event, which, wanted);
	if (!err && (which->from_ns || which->to_ns || which->decay_ns))
		err = fold_windows(l, which, wanted, f);
	else
		for (size_t i = 0; i < l->counts.nr && !err; i++)
			if (wanted[i])
				err = fold_count(l, &l->counts.v[i], l->counts.v[i].samples,
						 l->counts.v[i].weight, f);
	free(wanted);
	return err;
}

static const char *keep(struct profile *p, const char *s, bool *failed)
{
	uint32_t id = intern_str(p->names, s);

	*failed |= id == IX_NONE;
	return id == IX_NONE ? "" : intern_get(p->names, id, NULL);
}

static void count_frames(const struct live_profile *l, struct profile_facts *facts)
{
	uint32_t end = definition_store_id_end(l->ids.store, REC_FRAME);

	for (uint32_t id = 1; id < end; id++) {
		const struct table_symbol *sym = definition_store_find_symbol(l->ids.store, id);

		if (!definition_store_find_frame(l->ids.store, id))
			continue;
		facts->frames++;
		facts->frames_unnamed += !sym || !sym->nr_lines;
	}
}

/* Says in words what is shown. */
static void tell_amount(const struct live_profile *l, uint32_t event, struct profile *p,
			bool *failed)
{
	const struct rec_event *e = definition_store_find_event(l->ids.store, event);
	struct trace_event shown = {
		.name = definition_store_string(l->ids.store, e ? e->name : 0, NULL),
		.unit = definition_store_string(l->ids.store, e ? e->unit : 0, NULL),
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

	return segment ? NULL : l->ids.store;
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
