/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/line_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/debug_info/line_program.h"

static const struct line_row *row_of(const void *entry)
{
	return *(const struct line_row *const *)entry;
}

/* Rows are compared by their places, which are those in the program. */
static int by_addr(const void *a, const void *b)
{
	const struct line_row *x = row_of(a), *y = row_of(b);

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int sort_rows(struct line_rows *rows)
{
	const struct line_row **order = malloc((rows->nr + 1) * sizeof(*order));
	struct line_row *v = malloc((rows->nr + 1) * sizeof(*v));
	bool ok = order && v;

	for (size_t i = 0; ok && i < rows->nr; i++)
		order[i] = &rows->v[i];
	if (ok)
		qsort(order, rows->nr, sizeof(*order), by_addr);
	for (size_t i = 0; ok && i < rows->nr; i++)
		v[i] = *order[i];
	free(order);
	if (!ok) {
		free(v);
		return -ENOMEM;
	}
	free(rows->v);
	rows->v = v;
	rows->cap = rows->nr + 1;
	return 0;
}

struct place {
	uint64_t addr;
	struct line_sequence s;
};

static int by_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->s.first < y->s.first ? -1 : x->s.first > y->s.first;
}

/* Whether sequences in this order are all rows in order. */
static bool are_apart(const struct place *v, size_t nr, const struct line_row *rows)
{
	for (size_t i = 1; i < nr; i++) {
		const struct line_row *last = &rows[v[i - 1].s.first + v[i - 1].s.nr - 1];
		const struct line_row *next = &rows[v[i].s.first];

		if (by_addr(&last, &next) > 0)
			return false;
	}
	return true;
}

static bool is_in_order(const struct place *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (v[i].s.first < v[i - 1].s.first)
			return false;
	return true;
}

static int move_sequences(const struct place *v, size_t nr, struct line_rows *rows)
{
	struct line_row *to;
	size_t at = 0;

	if (is_in_order(v, nr))
		return 0;
	to = malloc((rows->nr + 1) * sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		memcpy(to + at, rows->v + v[i].s.first, v[i].s.nr * sizeof(*to));
		at += v[i].s.nr;
	}
	free(rows->v);
	rows->v = to;
	rows->cap = rows->nr + 1;
	return 0;
}

/* Rows behind the last end of a sequence are of none, and are sorted with the others. */
int line_order(struct line_rows *rows, const struct line_sequence *sequences, size_t nr,
	       bool is_sorted)
{
	struct place *v = malloc((nr + 1) * sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		v[i] = (struct place){ rows->v[sequences[i].first].addr, sequences[i] };
	if (nr)
		qsort(v, nr, sizeof(*v), by_first);
	if (is_sorted && are_apart(v, nr, rows->v))
		err = move_sequences(v, nr, rows);
	else
		err = sort_rows(rows);
	free(v);
	return err;
}
