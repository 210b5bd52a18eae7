/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/thread_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/model/definition_store.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/trace_events.h"
#include "src/report/weight_text.h"

#define MAX_PASSED_NS 10000000u

static const char missing[] = "[missing]";

struct collector {
	struct thread_tracks *t;
	struct fold *fold;
	struct hash_index index;	/* of tracks */
	const struct definition_store *tables;
	uint32_t *of_thread;		/* by thread id of the segment: its track, plus 1 */
	size_t cap_of_thread;
};

static bool is_same_thread(const void *ctx, uint32_t id)
{
	const void *const *both = ctx;
	const struct thread_track *v = both[0], *a = &v[id], *b = both[1];

	return a->segment == b->segment && a->tgid == b->tgid && a->tid == b->tid &&
	       a->start_ns == b->start_ns && a->idle_name == b->idle_name &&
	       a->is_known == b->is_known;
}

/* The idle threads of all CPUs have number 0, and only their names tell them apart. */
static struct thread_track identity(const struct report_sample *s)
{
	struct thread_track k = { .segment = s->segment, .is_known = s->thread != NULL };

	if (!s->thread)
		return k;
	k.tid = s->thread->tid;
	k.tgid = k.tid;
	k.start_ns = s->thread->start_boottime_ns;
	k.idle_name = k.tid ? 0 : s->thread->comm;
	report_sample_tgid(s, &k.tgid);
	return k;
}

static uint64_t hash_of(const struct thread_track *k)
{
	return hash_u64(hash_u64(k->tid, k->segment), k->start_ns);
}

/* Number of the sample's track; IX_NONE: out of memory. */
static uint32_t find_track(struct collector *c, const struct report_sample *s)
{
	struct thread_track key = identity(s), *new;
	const void *both[] = { c->t->v, &key };
	uint32_t id = ix_find(&c->index, hash_of(&key), is_same_thread, both);

	if (id != IX_NONE)
		return id;
	id = (uint32_t)c->t->nr;
	new = array_push(&c->t->v, &c->t->nr, &c->t->cap);
	if (!new || ix_add(&c->index, hash_of(&key), id))
		return IX_NONE;
	*new = key;
	return id;
}

/* A thread's record says its name. A process without a record is called as its thread. */
static void name_track(struct thread_track *k, const struct report_sample *s)
{
	k->name = k->process = missing;
	k->name_len = k->process_len = strlen(missing);
	if (!s->thread)
		return;
	k->name = definition_store_string(s->tables, s->thread->comm, &k->name_len);
	k->process = k->name;
	k->process_len = k->name_len;
	if (s->process)
		k->process =
			definition_store_string(s->tables, s->process->comm, &k->process_len);
	k->is_main = k->tid == k->tgid;
}

/* The track of a sample; NULL: out of memory. Most samples are of a thread that is known. */
static struct thread_track *track_of(struct collector *c, const struct report_sample *s)
{
	uint32_t thread = s->thread ? s->rec->thread : 0, *slot, id;

	if (c->tables != s->tables && c->cap_of_thread)
		memset(c->of_thread, 0, c->cap_of_thread * sizeof(*c->of_thread));
	c->tables = s->tables;
	if (array_reserve(&c->of_thread, &c->cap_of_thread, (size_t)thread + 1))
		return NULL;
	slot = &c->of_thread[thread];
	if (*slot)
		return &c->t->v[*slot - 1];
	id = find_track(c, s);
	if (id == IX_NONE)
		return NULL;
	*slot = id + 1;
	name_track(&c->t->v[id], s);
	return &c->t->v[id];
}

/* Whether a sample goes on with a run. Twice its weight is a sample that came late, no gap. */
static bool continues(const struct thread_tracks *t, const struct track_run *r,
		      const struct track_run *s)
{
	uint64_t passed = s->first_ns - r->last_ns;

	if (r->node != s->node || r->weight != s->weight || r->activity != s->activity ||
	    s->first_ns < r->last_ns || r->nr == UINT32_MAX)
		return false;
	if (t->is_time && s->weight)
		return passed / 2 < s->weight;
	return t->is_wall || !s->weight || passed < MAX_PASSED_NS;
}

/* Adds a sample to the latest run of its track, of, or as a new one to all. */
static int add_run(const struct thread_tracks *t, struct run_list *all, struct track_runs *of,
		   const struct track_run *s)
{
	struct track_run *r = of->latest ? &all->v[of->latest - 1] : NULL;

	if (r && continues(t, r, s)) {
		r->last_ns = s->last_ns;
		r->nr++;
		return 0;
	}
	r = array_push(&all->v, &all->nr, &all->cap);
	if (!r)
		return -ENOMEM;
	*r = *s;
	of->latest = all->nr;
	of->nr++;
	return 0;
}

static void widen_axis(struct track_axis *a, uint64_t begin_ns, uint64_t end_ns)
{
	if (!a->end_ns || begin_ns < a->begin_ns)
		a->begin_ns = begin_ns;
	if (end_ns > a->end_ns)
		a->end_ns = end_ns;
}

static int widen(struct thread_tracks *t, uint32_t segment, uint64_t begin_ns, uint64_t end_ns)
{
	if (array_reserve(&t->recordings, &t->cap_recordings, (size_t)segment + 1))
		return -ENOMEM;
	widen_axis(&t->axis, begin_ns, end_ns);
	widen_axis(&t->recordings[segment], begin_ns, end_ns);
	return 0;
}

static int collect(void *collector, const struct report_sample *s)
{
	struct collector *c = collector;
	struct thread_track *k = track_of(c, s);
	struct track_run run = { .first_ns = s->real_ns,
				 .last_ns = s->real_ns,
				 .weight = s->weight,
				 .nr = 1,
				 .activity = (uint8_t)sample_activity(s->rec, s->futex) };

	if (!k || fold_node(c->fold, s, &run.node) ||
	    widen(c->t, s->segment, track_run_begin(c->t, &run), s->real_ns))
		return -ENOMEM;
	k->weight = weight_sum(k->weight, s->weight);
	run.track = (uint32_t)(k - c->t->v);
	return add_run(c->t, &c->t->samples, &k->samples, &run);
}

uint64_t track_run_begin(const struct thread_tracks *t, const struct track_run *run)
{
	uint64_t ns = t->is_time ? run->weight : 0;

	return run->first_ns > ns ? run->first_ns - ns : 0;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Everything that tells two runs apart, so that the result does not depend on the sort. */
static int compare_runs(const void *a, const void *b)
{
	const struct track_run *x = a, *y = b;

	return COMPARE(x->first_ns, y->first_ns) ?: COMPARE(x->last_ns, y->last_ns)
		?: COMPARE(x->node, y->node) ?: COMPARE(x->activity, y->activity)
		?: COMPARE(x->weight, y->weight);
}

/* Samples of neighbouring chunks may overlap in time, and those of two recordings in any way. */
static void sort_by_time(struct track_runs *of)
{
	for (size_t i = 1; i < of->nr; i++) {
		if (of->v[i].first_ns < of->v[i - 1].first_ns) {
			qsort(of->v, of->nr, sizeof(*of->v), compare_runs);
			return;
		}
	}
}

static struct track_runs *runs_of(struct thread_track *k, bool are_states)
{
	return are_states ? &k->states : &k->samples;
}

/* Gives each track its part of the runs, which were collected in the order of the file. */
static int divide_runs(struct thread_tracks *t, bool are_states)
{
	struct run_list *all = are_states ? &t->states : &t->samples;
	struct track_run *v = calloc(all->nr + 1, sizeof(*v)), *at = v;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++) {
		struct track_runs *of = runs_of(&t->v[i], are_states);

		of->v = at;
		at += of->nr;
		of->nr = 0;
	}
	for (size_t i = 0; i < all->nr; i++) {
		struct track_runs *of = runs_of(&t->v[all->v[i].track], are_states);

		of->v[of->nr++] = all->v[i];
	}
	free(all->v);
	all->v = v;
	for (size_t i = 0; i < t->nr; i++)
		sort_by_time(runs_of(&t->v[i], are_states));
	return 0;
}

static int by_process(const void *a, const void *b)
{
	const struct thread_track *x = a, *y = b;

	return COMPARE(x->segment, y->segment) ?: COMPARE(x->tgid, y->tgid)
		?: COMPARE(x->is_known, y->is_known);
}

static int by_weight(const void *a, const void *b)
{
	const struct thread_track *x = a, *y = b;

	return COMPARE(y->process_weight, x->process_weight) ?: by_process(a, b)
		?: COMPARE(y->weight, x->weight) ?: COMPARE(x->tid, y->tid)
		?: COMPARE(x->start_ns, y->start_ns) ?: COMPARE(x->idle_name, y->idle_name);
}

static void sort_tracks(struct thread_tracks *t)
{
	size_t first = 0;

	if (!t->nr)
		return;
	qsort(t->v, t->nr, sizeof(*t->v), by_process);
	t->several = t->v[0].segment != t->v[t->nr - 1].segment;
	for (size_t i = 1; i <= t->nr; i++) {
		uint64_t sum = 0;

		if (i < t->nr && !by_process(&t->v[first], &t->v[i]))
			continue;
		for (size_t j = first; j < i; j++)
			sum = weight_sum(sum, t->v[j].weight);
		for (; first < i; first++)
			t->v[first].process_weight = sum;
	}
	qsort(t->v, t->nr, sizeof(*t->v), by_weight);
}

static void release_collector(struct collector *c)
{
	fold_free(c->fold);
	ix_release(&c->index);
	free(c->of_thread);
}

static int collect_all(struct collector *c, struct report *rep, const struct fold_options *opts)
{
	int err = fold_new(opts, &c->fold);

	if (!err)
		err = report_samples(rep, collect, c);
	if (!err)
		err = fold_take_report(c->fold, rep, &c->t->profile);
	release_collector(c);
	return err ? err : divide_runs(c->t, false);
}

int thread_tracks_make(struct report *rep, const struct render_opts *render,
		       struct thread_tracks **tp)
{
	const struct trace_event *event = report_event(rep);
	struct fold_options opts = { .style = render->style,
				     .by = { .v = { FOLD_BY_NONE }, .nr = 1 } };
	struct collector c = { .t = calloc(1, sizeof(*c.t)) };
	int err;

	*tp = NULL;
	if (!c.t)
		return -ENOMEM;
	fold_limit(&opts, rep);
	c.t->is_wall = event && event_is_wall_time(event->kind);
	if (c.t->is_wall)
		opts.by.v[0] = FOLD_BY_STATE;
	if (render->view.by.nr)
		opts.by = render->view.by;
	c.t->is_time = event && !event->is_counted && !strcmp(event->unit, "ns");
	err = collect_all(&c, rep, &opts);
	if (err) {
		thread_tracks_free(c.t);
		return err;
	}
	sort_tracks(c.t);
	*tp = c.t;
	return 0;
}

static int collect_state(void *collector, const struct report_sample *s)
{
	struct collector *c = collector;
	struct track_run run = { .first_ns = s->real_ns,
				 .last_ns = s->real_ns,
				 .nr = 1,
				 .activity = (uint8_t)sample_activity(s->rec, s->futex) };
	struct thread_track key = identity(s);
	const void *both[] = { c->t->v, &key };

	run.track = ix_find(&c->index, hash_of(&key), is_same_thread, both);
	if (run.track == IX_NONE)
		return 0;
	if (widen(c->t, s->segment, s->real_ns, s->real_ns))
		return -ENOMEM;
	return add_run(c->t, &c->t->states, &c->t->v[run.track].states, &run);
}

int thread_tracks_add_states(struct report *rep, struct thread_tracks *t)
{
	struct collector c = { .t = t };
	int err = 0;

	for (size_t i = 0; i < t->nr && !err; i++)
		err = ix_add(&c.index, hash_of(&t->v[i]), (uint32_t)i);
	if (!err)
		err = report_scan_rows(rep, collect_state, &c);
	release_collector(&c);
	return err ? err : divide_runs(t, true);
}

void thread_tracks_free(struct thread_tracks *t)
{
	if (!t)
		return;
	free(t->samples.v);
	free(t->states.v);
	free(t->recordings);
	free(t->v);
	profile_free(t->profile);
	free(t);
}

char *thread_track_label(const struct thread_tracks *t, const struct thread_track *k, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	if (!k->is_main && k->is_known) {
		fwrite(k->process, 1, k->process_len, out);
		fprintf(out, " (%u): ", k->tgid);
	}
	fwrite(k->name, 1, k->name_len, out);
	if (k->is_known)
		fprintf(out, " (%u)", k->tid);
	if (t->several)
		fprintf(out, ", recording %u", k->segment + 1);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
