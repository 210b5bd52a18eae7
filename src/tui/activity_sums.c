/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/activity_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/live/live_windows.h"
#include "src/report/weight_text.h"

struct summing {
	struct activity_sums *s;
	const struct activity_wish *wish;
	uint32_t *row_of;		/* by id, plus 1 */
	size_t cap_rows;
};

static uint32_t id_of(const struct summing *w, uint32_t thread)
{
	const struct rec_thread *t;

	if (w->wish->by_thread)
		return thread;
	t = definition_store_find_thread(live_profile_tables(w->wish->live), thread);
	return t ? t->process : 0;
}

/* The cells of a row, made if it is new; NULL: out of memory. */
static struct activity_row *row_of(struct summing *w, uint32_t id)
{
	struct activity_row *row;

	if (array_reserve(&w->row_of, &w->cap_rows, (size_t)id + 1))
		return NULL;
	if (w->row_of[id])
		return &w->s->rows[w->row_of[id] - 1];
	row = array_push(&w->s->rows, &w->s->nr, &w->s->cap);
	if (!row)
		return NULL;
	row->id = id;
	row->cells = calloc(w->wish->columns, sizeof(*row->cells));
	if (!row->cells)
		return NULL;
	w->row_of[id] = (uint32_t)w->s->nr;
	return row;
}

static int add(struct summing *w, uint32_t column, const struct live_growth *g)
{
	struct live_kind kind = live_profile_kind(w->wish->live, g->id);
	struct activity_row *row;

	if (kind.event != w->wish->event ||
	    !live_profile_wants(w->wish->live, &w->wish->which, &kind))
		return 0;
	row = row_of(w, id_of(w, kind.thread));
	if (!row)
		return -ENOMEM;
	row->weight = weight_sum(row->weight, g->weight);
	row->cells[column] = weight_sum(row->cells[column], g->weight);
	w->s->all[column] = weight_sum(w->s->all[column], g->weight);
	w->s->weight = weight_sum(w->s->weight, g->weight);
	return 0;
}

static int add_window(struct summing *w, const struct live_window *win)
{
	const struct activity_wish *wish = w->wish;
	uint64_t at = win->begin_ns < wish->from_ns ? 0 : win->begin_ns - wish->from_ns;
	uint32_t column = (uint32_t)((unsigned __int128)at * wish->columns /
				     (wish->to_ns - wish->from_ns));
	int err = 0;

	if (column >= wish->columns)
		column = wish->columns - 1;
	for (size_t i = 0; i < win->nr && !err; i++)
		err = add(w, column, &win->v[i]);
	return err;
}

static int most_first(const void *a, const void *b)
{
	const struct activity_row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void finish(struct activity_sums *s, uint32_t columns)
{
	if (s->nr)
		qsort(s->rows, s->nr, sizeof(*s->rows), most_first);
	for (uint32_t c = 0; c < columns; c++) {
		if (s->all[c] > s->most_all)
			s->most_all = s->all[c];
		for (size_t i = 0; i < s->nr; i++)
			if (s->rows[i].cells[c] > s->most)
				s->most = s->rows[i].cells[c];
	}
}

int activity_sums_init(struct activity_sums *s, const struct activity_wish *wish)
{
	const struct live_windows *all = live_profile_windows(wish->live);
	struct summing w = { .s = s, .wish = wish };
	int err;

	*s = (struct activity_sums){ .all = calloc(wish->columns + 1, sizeof(*s->all)) };
	err = s->all && wish->columns && wish->to_ns > wish->from_ns ? 0 : -ENOMEM;
	for (size_t i = 0; i < all->nr && !err; i++)
		if (all->v[i].end_ns > wish->from_ns && all->v[i].begin_ns < wish->to_ns)
			err = add_window(&w, &all->v[i]);
	free(w.row_of);
	if (err)
		activity_sums_release(s);
	else
		finish(s, wish->columns);
	return err;
}

void activity_sums_release(struct activity_sums *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->rows[i].cells);
	free(s->rows);
	free(s->all);
	memset(s, 0, sizeof(*s));
}
