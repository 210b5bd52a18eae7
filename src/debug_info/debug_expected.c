/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_expected.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/debug_info/debug_index.h"
#include "src/debug_info/unit_table.h"

#define NO_UNIT UINT64_MAX

int debug_expected_set(struct debug_expected *x, const uint64_t *addrs, size_t nr)
{
	x->nr = 0;
	x->is_sorted = false;
	if (array_reserve(&x->v, &x->cap, nr + 1))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		x->v[i].addr = addrs[i];
	x->nr = nr;
	return 0;
}

void debug_expected_release(struct debug_expected *x)
{
	free(x->v);
	*x = (struct debug_expected){ 0 };
}

static int by_unit(const void *a, const void *b)
{
	const struct expected_addr *x = a, *y = b;

	return COMPARE(x->unit, y->unit) ? COMPARE(x->unit, y->unit) : COMPARE(x->addr, y->addr);
}

static void sort(struct debug_expected *x, const struct debug_index *ix)
{
	for (size_t i = 0; i < x->nr; i++)
		if (debug_index_find(ix, x->v[i].addr, &x->v[i].unit))
			x->v[i].unit = NO_UNIT;
	if (x->nr)
		qsort(x->v, x->nr, sizeof(*x->v), by_unit);
	x->is_sorted = true;
}

static int want(struct wanted_addrs *w, uint64_t addr)
{
	uint64_t *x = array_push(&w->v, &w->nr, &w->cap);

	if (!x)
		return -ENOMEM;
	*x = addr;
	return 0;
}

static int want_expected(const struct debug_expected *x, uint64_t unit, struct wanted_addrs *w)
{
	size_t i = bisect(x->nr, k, x->v[k].unit < unit);
	int err = 0;

	for (; i < x->nr && x->v[i].unit == unit && !err; i++)
		err = want(w, x->v[i].addr);
	return err;
}

/* Each segment that was read is of a region that was. */
static int want_again(const struct unit_table *t, struct wanted_addrs *w)
{
	int err = 0;

	for (uint32_t i = 0; i < t->head->nr_segments && !err; i++)
		if (t->segments[i].node != UNIT_UNREAD)
			err = want(w, t->head->base + t->segments[i].addr);
	return err;
}

int debug_expected_of(struct debug_expected *x, const struct debug_index *ix, uint64_t unit,
		      uint64_t addr, const struct unit_table *so_far, struct wanted_addrs *w)
{
	int err;

	if (!x->is_sorted)
		sort(x, ix);
	err = want(w, addr);
	if (!err)
		err = want_expected(x, unit, w);
	if (!err && so_far)
		err = want_again(so_far, w);
	if (!err)
		qsort(w->v, w->nr, sizeof(*w->v), compare_u64);
	return err;
}
