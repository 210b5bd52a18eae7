/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/top_list.h"

#include <stdlib.h>
#include <string.h>

#include "src/tui/tui_state.h"

static int by_total(const void *a, const void *b)
{
	const struct function_cost *x = a, *y = b;

	return x->total > y->total ? -1 : x->total < y->total;
}

const struct function_list *top_list(struct tui *t)
{
	struct top_list *l = &t->top.list;

	if (l->tree == t->tree_serial && l->by_total == t->top.by_total)
		return &l->all;
	function_list_release(&l->all);
	l->tree = 0;
	if (function_list_init(&l->all, t->profile))
		return NULL;
	if (t->top.by_total && l->all.nr)
		qsort(l->all.v, l->all.nr, sizeof(*l->all.v), by_total);
	l->tree = t->tree_serial;
	l->by_total = t->top.by_total;
	return &l->all;
}

const struct minute_function *top_list_then(struct tui *t, const struct function_cost *f)
{
	struct top_list *l = &t->top.list;

	if (l->mark != t->mark_serial) {
		free(l->then);
		if (function_costs_make(t->mark, &l->then, &l->nr_then))
			return NULL;
		l->mark = t->mark_serial;
	}
	return function_costs_find(l->then, l->nr_then,
				   function_minute_key(profile_name(t->profile, f->name),
						       profile_name(t->profile, f->binary),
						       f->kind));
}

void top_list_release(struct top_list *l)
{
	function_list_release(&l->all);
	free(l->then);
	memset(l, 0, sizeof(*l));
}
