/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_regions.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_spans.h"

#define MAX_RANGES (4u << 20)		/* of all functions: 96 MiB */

int unit_regions_add(struct unit_regions *x, uint64_t offset)
{
	struct region_func *f = array_push(&x->funcs, &x->nr_funcs, &x->cap_funcs);

	if (!f)
		return -ENOMEM;
	*f = (struct region_func){ .offset = offset };
	return 0;
}

int unit_regions_range(struct unit_regions *x, uint64_t lo, uint64_t hi)
{
	struct unit_span *s;

	assert(x->nr_funcs);		/* the range is of the last one */
	if (x->nr_ranges >= MAX_RANGES)
		return -E2BIG;
	s = array_push(&x->ranges, &x->nr_ranges, &x->cap_ranges);
	if (!s)
		return -ENOMEM;
	*s = (struct unit_span){ .lo = lo, .hi = hi, .node = (uint32_t)x->nr_funcs - 1 };
	return 0;
}

/* Goes through the wanted addresses, which are sorted. */
struct wanted {
	const uint64_t *v;
	size_t nr, at;
};

/* Whether there is one in [.., hi); all of them are passed. */
static bool is_wanted(struct wanted *w, uint64_t hi)
{
	size_t before = w->at;

	while (w->at < w->nr && w->v[w->at] < hi)
		w->at++;
	return w->at > before;
}

static int choose(struct unit_regions *x, uint64_t lo, uint64_t hi)
{
	struct addr_range *last = x->nr_chosen ? &x->chosen[x->nr_chosen - 1] : NULL;

	if (last && last->hi == lo) {
		last->hi = hi;
		return 0;
	}
	last = array_push(&x->chosen, &x->nr_chosen, &x->cap_chosen);
	if (!last)
		return -ENOMEM;
	*last = (struct addr_range){ lo, hi };
	return 0;
}

/* The end of the region that begins with range i; *next: behind its last range. */
static uint64_t region_end(const struct unit_regions *x, size_t i, size_t *next)
{
	uint64_t hi = x->ranges[i].hi;

	for (*next = i + 1; *next < x->nr_ranges && x->ranges[*next].lo < hi; ++*next)
		if (x->ranges[*next].hi > hi)
			hi = x->ranges[*next].hi;
	return hi;
}

int unit_regions_choose(struct unit_regions *x, const uint64_t *wanted, size_t nr)
{
	struct wanted w = { wanted, nr, 0 };
	uint64_t lo, hi = 0;
	int err = unit_spans_sort(&x->ranges, &x->cap_ranges, x->nr_ranges);

	for (size_t i = 0, next; i < x->nr_ranges && !err; i = next) {
		lo = x->ranges[i].lo;
		if (is_wanted(&w, lo) && lo > hi)
			err = choose(x, hi, lo);
		hi = region_end(x, i, &next);
		if (!is_wanted(&w, hi) || err)
			continue;
		err = choose(x, lo, hi);
		for (size_t k = i; k < next; k++)
			x->funcs[x->ranges[k].node].is_chosen = true;
	}
	if (!err && is_wanted(&w, UINT64_MAX))
		err = choose(x, hi, UINT64_MAX);
	return err;
}

static int keep(struct unit_regions *x, uint64_t lo, uint64_t hi)
{
	struct addr_range *r = array_push(&x->kept, &x->nr_kept, &x->cap_kept);

	if (!r)
		return -ENOMEM;
	*r = (struct addr_range){ lo, hi };
	return 0;
}

/* Keeps the chosen ones up to lo, and goes on at hi. */
int unit_regions_leave_out(struct unit_regions *x, uint64_t lo, uint64_t hi)
{
	int err = 0;

	for (; x->at < x->nr_chosen && x->chosen[x->at].lo < hi && !err; x->at++) {
		struct addr_range *r = &x->chosen[x->at];

		if (r->lo < lo)
			err = keep(x, r->lo, r->hi < lo ? r->hi : lo);
		if (r->hi <= hi)
			continue;
		r->lo = hi;
		break;
	}
	return err;
}

int unit_regions_end(struct unit_regions *x)
{
	int err = unit_regions_leave_out(x, UINT64_MAX, UINT64_MAX);

	free(x->chosen);
	x->chosen = x->kept;
	x->nr_chosen = x->nr_kept;
	x->cap_chosen = x->cap_kept;
	x->kept = NULL;
	x->nr_kept = x->cap_kept = 0;
	return err;
}

bool unit_regions_meet(const struct unit_regions *x, uint64_t lo, uint64_t hi)
{
	size_t after = bisect(x->nr_chosen, i, x->chosen[i].lo <= hi);

	return after && x->chosen[after - 1].hi > lo;
}

void unit_regions_release(struct unit_regions *x)
{
	free(x->funcs);
	free(x->ranges);
	free(x->chosen);
	free(x->kept);
}
