/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/extents.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>

#include "src/base/array.h"
#include "src/base/bisect.h"

void extents_release(struct extents *e)
{
	free(e->v);
	memset(e, 0, sizeof(*e));
}

static void remove_at(struct extents *e, size_t i)
{
	e->nr--;
	memmove(&e->v[i], &e->v[i + 1], (e->nr - i) * sizeof(*e->v));
}

int extents_take(struct extents *e, uint32_t nr, uint32_t *first)
{
	*first = 0;
	if (!nr)
		return 0;
	for (size_t i = 0; i < e->nr; i++) {
		struct extent *x = &e->v[i];

		if (x->nr < nr)
			continue;
		*first = x->first;
		x->first += nr;
		x->nr -= nr;
		assert(e->nr_free >= nr);
		e->nr_free -= nr;
		if (!x->nr)
			remove_at(e, i);
		return 0;
	}
	return -ENOSPC;
}

/* Number of free ranges that begin before first. */
static size_t rank(const struct extents *e, uint32_t first)
{
	return bisect(e->nr, i, e->v[i].first < first);
}

static bool may_join(const struct extents *e, uint32_t at)
{
	return !e->boundary || at & (e->boundary - 1);
}

int extents_give(struct extents *e, uint32_t first, uint32_t nr)
{
	size_t i = rank(e, first);
	struct extent *before = i ? &e->v[i - 1] : NULL, *after = i < e->nr ? &e->v[i] : NULL;

	if (!nr)
		return 0;
	assert(!before || before->first + before->nr <= first);
	assert(!after || first + nr <= after->first);
	e->nr_free += nr;
	if (after && first + nr == after->first && may_join(e, after->first)) {
		after->first = first;
		after->nr += nr;
		if (before && before->first + before->nr == first && may_join(e, first)) {
			before->nr += after->nr;
			remove_at(e, i);
		}
		return 0;
	}
	if (before && before->first + before->nr == first && may_join(e, first)) {
		before->nr += nr;
		return 0;
	}
	if (!array_push(&e->v, &e->nr, &e->cap)) {
		e->nr_free -= nr;
		return -ENOMEM;
	}
	memmove(&e->v[i + 1], &e->v[i], (e->nr - 1 - i) * sizeof(*e->v));
	e->v[i] = (struct extent){ first, nr };
	return 0;
}
