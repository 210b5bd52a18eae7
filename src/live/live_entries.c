/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_entries.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/live/live_windows.h"
#include "src/report/weight_text.h"

void live_entries_release(struct live_entries *e)
{
	for (size_t i = 0; i < LIVE_LATEST; i++)
		free(e->latest[i].v);
	free(e->seen);
	free(e->tick);
	memset(e, 0, sizeof(*e));
}

/* ---- ticks as bytes ---- */

static int by_id(const void *a, const void *b)
{
	const struct live_growth *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorts by count and adds up what is of the same count. */
static size_t unite(struct live_growth *v, size_t nr)
{
	size_t n = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_id);
	for (size_t i = 0; i < nr; i++) {
		struct live_growth *last = n ? &v[n - 1] : NULL;

		if (last && last->id == v[i].id) {
			last->samples = weight_sum(last->samples, v[i].samples);
			last->weight = weight_sum(last->weight, v[i].weight);
		} else {
			v[n++] = v[i];
		}
	}
	return n;
}

static uint64_t weight_code(const struct live_profile *l, const struct live_growth *g)
{
	size_t nr;
	const struct live_count *counts = live_profile_counts(l, &nr);
	const struct rec_event *e = definition_store_find_event(live_profile_tables(l),
								counts[g->id].event);

	if (e && g->weight == weight_times(e->period, g->samples))
		return 0;
	return weight_sum(g->weight, 1);
}

static void put_runs(const struct live_profile *l, const struct live_growth *v, size_t nr,
		     struct byte_buf *out)
{
	struct byte_buf runs = { 0 };
	uint32_t nr_runs = 0, next = 0;

	for (size_t i = 0, end; i < nr; i = end) {
		uint64_t code = weight_code(l, &v[i]);

		end = i + 1;
		while (end < nr && v[end].id == v[end - 1].id + 1 &&
		       v[end].samples == v[i].samples && weight_code(l, &v[end]) == code)
			end++;
		bb_uv(&runs, v[i].id - next);
		bb_uv(&runs, end - i);
		bb_uv(&runs, v[i].samples);
		bb_uv(&runs, code);
		next = v[end - 1].id + 1;
		nr_runs++;
	}
	bb_uv(out, nr_runs);
	bb_bytes(out, runs.v, runs.nr);
	out->bad |= runs.bad;
	bb_release(&runs);
}

/* v is sorted by this. */
static void put_tick(const struct live_profile *l, const struct live_window *w, uint64_t base_ns,
		     struct live_growth *v, size_t nr, struct byte_buf *out)
{
	int64_t begin = (int64_t)(w->begin_ns / LIVE_WINDOW_NS) -
			(int64_t)(base_ns / LIVE_WINDOW_NS);

	nr = unite(v, nr);
	bb_sv(out, begin);
	bb_uv(out, (w->end_ns - w->begin_ns) / LIVE_WINDOW_NS);
	put_runs(l, v, nr, out);
}

int live_entries_all(const struct live_profile *l, uint64_t base_ns, struct byte_buf *out)
{
	const struct live_windows *w = live_profile_windows(l);
	struct live_growth *v = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < w->nr; i++) {
		const struct live_window *win = &w->v[i];

		if (!win->nr)
			continue;
		if (array_reserve(&v, &cap, win->nr)) {
			out->bad = true;
			break;
		}
		memcpy(v, win->v, win->nr * sizeof(*v));
		put_tick(l, win, base_ns, v, win->nr, out);
	}
	free(v);
	return out->bad ? -ENOMEM : 0;
}

/* ---- what has come ---- */

/* How many counts have grown; -1: out of memory. */
static long find_growth(struct live_entries *e, const struct live_profile *l)
{
	size_t nr;
	const struct live_count *c = live_profile_counts(l, &nr);
	long grown = 0;

	if (array_reserve(&e->seen, &e->cap_seen, nr))
		return -1;
	for (size_t i = 0; i < nr; i++) {
		struct live_seen *s = &e->seen[i];

		if (c[i].samples == s->samples && c[i].weight == s->weight)
			continue;
		s->more_samples = c[i].samples - s->samples;
		s->more_weight = c[i].weight - s->weight;
		s->samples = c[i].samples;
		s->weight = c[i].weight;
		grown++;
	}
	return grown;
}

/* The window as it was; NULL: it is new, or was united with another one. */
static const struct live_latest *latest_of(const struct live_entries *e,
					   const struct live_window *w)
{
	for (size_t i = 0; i < LIVE_LATEST && !w->level; i++)
		if (e->latest[i].nr && e->latest[i].end_ns == w->end_ns)
			return &e->latest[i];
	return NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Puts into the tick what a window has more of a count, as far as the count has more. */
static int take_growth(struct live_entries *e, const struct live_growth *now,
		       const struct live_growth *before, long *grown)
{
	struct live_seen *s = &e->seen[now->id];
	struct live_growth more = { now->id, now->samples, now->weight }, *slot;

	assert(now->id < e->cap_seen);		/* find_growth() has looked at all counts */
	if (!s->more_samples && !s->more_weight)
		return 0;
	if (before && before->id == now->id) {
		more.samples -= before->samples;
		more.weight -= before->weight;
	}
	more.samples = least(more.samples, s->more_samples);
	more.weight = least(more.weight, s->more_weight);
	if (!more.samples && !more.weight)
		return 0;
	slot = array_push(&e->tick, &e->nr_tick, &e->cap_tick);
	if (!slot)
		return -ENOMEM;
	*slot = more;
	s->more_samples -= more.samples;
	s->more_weight -= more.weight;
	*grown -= !s->more_samples && !s->more_weight;
	return 0;
}

/* What has a weight so high that sums stay where they are is in no window. */
static int take_rest(struct live_entries *e, size_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct live_seen *s = &e->seen[i];
		struct live_growth *slot;

		if (!s->more_samples && !s->more_weight)
			continue;
		slot = array_push(&e->tick, &e->nr_tick, &e->cap_tick);
		if (!slot)
			return -ENOMEM;
		*slot = (struct live_growth){ i, s->more_samples, s->more_weight };
		s->more_samples = s->more_weight = 0;
	}
	return 0;
}

static int remember(struct live_entries *e, const struct live_windows *w)
{
	for (size_t i = 0; i < LIVE_LATEST; i++) {
		const struct live_window *win = i < w->nr ? &w->v[w->nr - 1 - i] : NULL;
		struct live_latest *to = &e->latest[i];

		to->nr = 0;
		if (!win || win->level || !win->nr)
			continue;
		if (array_reserve(&to->v, &to->cap, win->nr))
			return -ENOMEM;
		memcpy(to->v, win->v, win->nr * sizeof(*to->v));
		to->nr = win->nr;
		to->end_ns = win->end_ns;
	}
	return 0;
}

static int take_window(struct live_entries *e, const struct live_window *w, long *grown)
{
	const struct live_latest *before = latest_of(e, w);

	e->nr_tick = 0;
	for (size_t i = 0; i < w->nr; i++)
		if (take_growth(e, &w->v[i],
				before && i < before->nr ? &before->v[i] : NULL, grown))
			return -ENOMEM;
	return 0;
}

int live_entries_take(struct live_entries *e, const struct live_profile *l, uint64_t base_ns,
		      struct byte_buf *out)
{
	const struct live_windows *w = live_profile_windows(l);
	long grown = find_growth(e, l);
	bool is_news = grown > 0;
	int err = grown < 0 ? -ENOMEM : 0;
	size_t nr;

	live_profile_counts(l, &nr);
	for (size_t i = w->nr; i-- > 0 && grown > 0 && !err;) {
		err = take_window(e, &w->v[i], &grown);
		if (!err && e->nr_tick)
			put_tick(l, &w->v[i], base_ns, e->tick, e->nr_tick, out);
	}
	e->nr_tick = 0;
	if (!err && grown > 0)
		err = take_rest(e, nr);
	if (!err && e->nr_tick)
		put_tick(l, &w->v[w->nr - 1], base_ns, e->tick, e->nr_tick, out);
	if (!err && is_news)
		err = remember(e, w);
	return err || out->bad ? -ENOMEM : is_news;
}
