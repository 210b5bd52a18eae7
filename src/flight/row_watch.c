/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/flight/row_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

enum { SLEEPS_MOST = 1024 };		/* more threads are not watched at a time */

void row_watch_init(struct row_watch *w, const struct trigger_list *triggers, row_watch_fn fn,
		    void *ctx)
{
	*w = (struct row_watch){ .triggers = triggers, .fn = fn, .ctx = ctx };
	for (size_t i = 0; i < triggers->nr; i++) {
		w->has_d_state |= triggers->v[i].kind == TRIGGER_D_STATE;
		w->has_probe |= triggers->v[i].kind == TRIGGER_PROBE;
	}
}

void row_watch_release(struct row_watch *w)
{
	free(w->tids);
	free(w->v);
	*w = (struct row_watch){ .triggers = NULL };
}

bool row_watch_is_wanted(const struct row_watch *w)
{
	return w->has_d_state || w->has_probe;
}

/* ---- probes ---- */

static void learn_string(struct row_watch *w, const struct rec_string *s)
{
	for (size_t i = 0; i < w->triggers->nr; i++) {
		const struct trigger *t = &w->triggers->v[i];

		if (t->kind == TRIGGER_PROBE && strlen(t->what) == s->len &&
		    !memcmp(t->what, s->bytes, s->len))
			w->names[i] = s->id;
	}
}

static void learn_event(struct row_watch *w, const struct rec_event *e)
{
	for (size_t i = 0; i < w->triggers->nr; i++)
		if (w->names[i] && w->names[i] == e->name)
			w->events[i] = e->id;
}

static uint32_t tid_of(const struct row_watch *w, uint32_t thread)
{
	return thread < w->cap_tids ? w->tids[thread] : 0;
}

static void look_at_event(struct row_watch *w, const struct rec_sample *s)
{
	char text[64];

	for (size_t i = 0; i < w->triggers->nr; i++) {
		if (!w->events[i] || w->events[i] != s->event)
			continue;
		snprintf(text, sizeof(text), "thread %" PRIu32, tid_of(w, s->thread));
		w->fn(w->ctx, i, s->time_ns, text);
	}
}

/* ---- threads in uninterruptible sleep ---- */

/* Threads that end are forgotten with their segment: ids are not given again in one. */
static int learn_thread(struct row_watch *w, const struct rec_thread *t)
{
	if (array_reserve(&w->tids, &w->cap_tids, (size_t)t->id + 1))
		return -ENOMEM;
	w->tids[t->id] = t->tid;
	return 0;
}

static void look_at_sleep(struct row_watch *w, struct disk_sleep *d, uint64_t time_ns)
{
	char text[96];

	for (size_t i = 0; i < w->triggers->nr; i++) {
		const struct trigger *t = &w->triggers->v[i];

		if (t->kind != TRIGGER_D_STATE || d->told & 1u << i ||
		    time_ns < d->since_ns + t->window_ns)
			continue;
		d->told |= 1u << i;
		snprintf(text, sizeof(text), "thread %" PRIu32 " for %.1f s", d->tid,
			 (double)(time_ns - d->since_ns) / 1e9);
		w->fn(w->ctx, i, time_ns, text);
	}
}

static void forget(struct row_watch *w, struct disk_sleep *d)
{
	*d = w->v[--w->nr];
}

static struct disk_sleep *find(struct row_watch *w, uint32_t tid)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].tid == tid)
			return &w->v[i];
	return NULL;
}

static int look_at_row(struct row_watch *w, const struct rec_sample *s)
{
	bool is_sleep = task_state_letter(s->state) == 'D' && s->ran_ns;
	uint32_t tid = tid_of(w, s->thread);
	struct disk_sleep *d = w->nr ? find(w, tid) : NULL;

	if (d && (!is_sleep || d->since_ns != s->ran_ns)) {
		forget(w, d);
		d = NULL;
	}
	if (!is_sleep)
		return 0;
	if (!d) {
		d = w->nr < SLEEPS_MOST ? array_push(&w->v, &w->nr, &w->cap) : NULL;
		if (!d)
			return w->nr < SLEEPS_MOST ? -ENOMEM : 0;
		d->tid = tid;
		d->since_ns = s->ran_ns;
	}
	d->thread = s->thread;
	d->scan = s->scan;
	look_at_sleep(w, d, s->time_ns);
	return 0;
}

static bool is_repeated(const struct rec_repeat *r, uint32_t thread)
{
	for (uint32_t i = 0; i < r->nr_runs; i++)
		if (thread >= r->runs[i].thread && thread - r->runs[i].thread < r->runs[i].nr)
			return true;
	return false;
}

static void look_at_repeat(struct row_watch *w, const struct rec_repeat *r)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (!w->v[i].thread || !is_repeated(r, w->v[i].thread))
			continue;
		w->v[i].scan = r->scan;
		look_at_sleep(w, &w->v[i], r->time_ns);
	}
}

/* The scan is complete: who is not in it has ended. */
static void end_scan(struct row_watch *w, uint32_t scan)
{
	for (size_t i = w->nr; i-- > 0;)
		if (w->v[i].scan != scan)
			forget(w, &w->v[i]);
}

int row_watch_record(void *watch, const struct record *rec)
{
	struct row_watch *w = watch;

	switch (rec->tag) {
	case REC_STRING: learn_string(w, &rec->string); break;
	case REC_EVENT: learn_event(w, &rec->event); break;
	case REC_THREAD: return learn_thread(w, &rec->thread);
	case REC_SCAN: end_scan(w, rec->scan.scan); break;
	case REC_REPEAT: look_at_repeat(w, &rec->repeat); break;
	case REC_SAMPLE:
		look_at_event(w, &rec->sample);
		return rec->sample.scan && w->has_d_state ? look_at_row(w, &rec->sample) : 0;
	case REC_BINARY: case REC_PROCESS: case REC_FRAME: case REC_NODE: case REC_FUNC:
	case REC_SYMBOL: case REC_PLACE: case REC_META: case REC_CLOCK: case REC_TASKEV:
	case REC_THREADNAME: case REC_MAPPING: case REC_RAWSTACK: case REC_LOST: case REC_NOTE:
	case REC_END:
		break;
	}
	return 0;
}

/* Sleeps go on: the next scan has a row for every thread, by which they are found again. */
int row_watch_begin_segment(void *watch)
{
	struct row_watch *w = watch;

	for (size_t i = 0; i < w->nr; i++)
		w->v[i].thread = 0;
	memset(w->names, 0, sizeof(w->names));
	memset(w->events, 0, sizeof(w->events));
	if (w->cap_tids)
		memset(w->tids, 0, w->cap_tids * sizeof(*w->tids));
	return 0;
}
