/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_windows.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/report/weight_text.h"

enum { KEPT_FIRST = 64, KEPT = 32, LEVELS = 40 };

void live_windows_release(struct live_windows *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->v[i].v);
	free(w->v);
	free(w->newest);
	memset(w, 0, sizeof(*w));
}

static int by_id(const void *a, const void *b)
{
	const struct live_growth *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* false: so many samples do not fit into one growth. */
static bool join(struct live_growth *to, const struct live_growth *from)
{
	if (from->samples > UINT32_MAX - to->samples)
		return false;
	to->samples += from->samples;
	to->weight = weight_sum(to->weight, from->weight);
	return true;
}

/* Memory behind the last growth is given back, where it is worth it. */
static void shrink(struct live_window *win)
{
	struct live_growth *v;

	if (win->cap - win->nr < 32 || !win->nr)
		return;
	v = realloc(win->v, win->nr * sizeof(*v));
	win->v = v ? v : win->v;
	win->cap = v ? win->nr : win->cap;
}

/* Adds up what a window has of the same count. */
static void unite_growth(struct live_window *win)
{
	size_t nr = 0;

	qsort(win->v, win->nr, sizeof(*win->v), by_id);
	for (size_t i = 0; i < win->nr; i++) {
		struct live_growth *last = nr ? &win->v[nr - 1] : NULL;

		if (!last || last->id != win->v[i].id || !join(last, &win->v[i]))
			win->v[nr++] = win->v[i];
	}
	win->nr = nr;
	shrink(win);
}

/* Windows at and at + 1 become one. */
static int unite(struct live_windows *w, size_t at)
{
	struct live_window *a = &w->v[at], *b = a + 1;

	assert(at + 1 < w->nr);
	if (array_reserve(&a->v, &a->cap, a->nr + b->nr))
		return -ENOMEM;
	if (b->nr)
		memcpy(a->v + a->nr, b->v, b->nr * sizeof(*b->v));
	a->nr += b->nr;
	a->end_ns = b->end_ns;
	a->level++;
	w->nr_growths -= a->nr;
	unite_growth(a);
	w->nr_growths += a->nr;
	free(b->v);
	memmove(b, b + 1, (w->nr - at - 2) * sizeof(*b));
	w->nr--;
	return 0;
}

/*
 * Windows of one level stand together, the oldest and longest first. The newest window is never
 * united with another one, because there are more of its level then.
 */
static int thin_out(struct live_windows *w)
{
	size_t end = w->nr;
	int err = 0;

	for (uint8_t level = 0; level < LEVELS && !err; level++) {
		size_t first = end;

		while (first && w->v[first - 1].level == level)
			first--;
		if (end - first <= (level ? KEPT : KEPT_FIRST))
			break;
		err = unite(w, first);
		end = first + 1;
	}
	return err;
}

/* A trace may claim any time: the last second of all has no end. */
static uint64_t sane(uint64_t time_ns)
{
	return time_ns > UINT64_MAX - 2 * LIVE_WINDOW_NS ? UINT64_MAX - 2 * LIVE_WINDOW_NS
							 : time_ns;
}

static int begin_window(struct live_windows *w, uint64_t time_ns)
{
	struct live_window *win;

	if (w->nr)			/* hardly anything more comes into it */
		shrink(&w->v[w->nr - 1]);
	win = array_push(&w->v, &w->nr, &w->cap);
	if (!win)
		return -ENOMEM;
	win->begin_ns = time_ns - time_ns % LIVE_WINDOW_NS;
	win->end_ns = win->begin_ns + LIVE_WINDOW_NS;
	w->serial++;
	return thin_out(w);
}

/* The window of a time before the newest one: of two, the later one if it lies between them. */
static struct live_window *find_window(struct live_windows *w, uint64_t time_ns)
{
	size_t i = w->nr - 1;

	assert(w->nr);
	while (i && w->v[i - 1].end_ns > time_ns)
		i--;
	if (time_ns < w->v[i].begin_ns)
		w->v[i].begin_ns = time_ns - time_ns % LIVE_WINDOW_NS;
	return &w->v[i];
}

int live_windows_add(struct live_windows *w, uint64_t time_ns, uint32_t id, uint32_t samples,
		     uint64_t weight)
{
	const struct live_growth more = { id, samples, weight };
	struct live_window *win;
	struct live_newest *at;
	struct live_growth *g = NULL;
	int err = 0;

	time_ns = sane(time_ns);
	if (!w->nr || time_ns >= w->v[w->nr - 1].end_ns)
		err = begin_window(w, time_ns);
	if (err || array_reserve(&w->newest, &w->cap_newest, (size_t)id + 1))
		return -ENOMEM;
	win = find_window(w, time_ns);
	at = win == &w->v[w->nr - 1] ? &w->newest[id] : NULL;
	if (at && at->serial == w->serial)
		g = &win->v[at->index];
	assert(!g || (at->index < win->nr && g->id == id));
	if (g && join(g, &more))
		return 0;
	g = array_push(&win->v, &win->nr, &win->cap);
	if (!g)
		return -ENOMEM;
	*g = more;
	w->nr_growths++;
	if (at)
		*at = (struct live_newest){ w->serial, (uint32_t)(win->nr - 1) };
	return 0;
}

/* Where the ids are in a window that is being rewritten; serial: of this window. */
struct places {
	struct live_newest *at;
	size_t cap;
	uint32_t serial;
};

static int rewrite(struct live_window *win, struct places *p, const struct live_rewrite *how)
{
	size_t nr = 0;

	for (size_t i = 0; i < win->nr; i++) {
		struct live_growth g = win->v[i];

		g.id = how->id_of(how->ctx, &g);
		if (g.id == UINT32_MAX || array_reserve(&p->at, &p->cap, (size_t)g.id + 1))
			return -ENOMEM;
		if (p->at[g.id].serial == p->serial && join(&win->v[p->at[g.id].index], &g))
			continue;
		p->at[g.id] = (struct live_newest){ p->serial, (uint32_t)nr };
		win->v[nr++] = g;
	}
	win->nr = nr;
	shrink(win);
	return 0;
}

int live_windows_rewrite(struct live_windows *w, const struct live_rewrite *how)
{
	struct places p = { .at = NULL };
	int err = 0;

	w->nr_growths = 0;
	for (size_t i = 0; i < w->nr && !err; i++) {
		p.serial = (uint32_t)i + 1;
		err = how->begin ? how->begin(how->ctx, &w->v[i], i) : 0;
		if (!err)
			err = rewrite(&w->v[i], &p, how);
		w->nr_growths += w->v[i].nr;
	}
	free(w->newest);		/* the last window was the newest one */
	w->newest = p.at;
	w->cap_newest = p.cap;
	w->serial = p.serial;
	return err;
}
