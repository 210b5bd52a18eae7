/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/wall_clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/model/record.h"

#define MANY_MARKS 64	/* in the time of one chunk: more than any recorder writes */

void wall_clock_release(struct wall_clock *c)
{
	free(c->v);
	memset(c, 0, sizeof(*c));
}

int wall_clock_add(struct wall_clock *c, const struct rec_clock *rec)
{
	struct wall_mark *m;

	/* No recorder writes an older one, and sorting it in could take for ever. */
	if (c->nr && rec->mono_ns < c->v[c->nr - 1].mono_ns)
		return 0;
	m = array_push(&c->v, &c->nr, &c->cap);
	if (!m)
		return -ENOMEM;
	*m = (struct wall_mark){ rec->mono_ns, (int64_t)(rec->real_ns - rec->mono_ns) };
	return 0;
}

void wall_clock_forget(struct wall_clock *c, uint64_t mono_ns)
{
	size_t n = 0;

	while (n + 1 < c->nr && c->v[n + 1].mono_ns <= mono_ns)
		n++;
	if (!n)
		return;
	c->nr -= n;
	memmove(c->v, c->v + n, c->nr * sizeof(*c->v));
}

/* The mark nearest to a time; there is one. */
static size_t nearest(const struct wall_clock *c, uint64_t mono_ns)
{
	size_t after = bisect(c->nr, i, c->v[i].mono_ns <= mono_ns);

	assert(c->nr);
	if (after == c->nr ||
	    (after && mono_ns - c->v[after - 1].mono_ns <= c->v[after].mono_ns - mono_ns))
		after--;
	return after;
}

uint64_t wall_clock_real(const struct wall_clock *c, uint64_t mono_ns)
{
	return c->nr ? mono_ns + (uint64_t)c->v[nearest(c, mono_ns)].ahead_ns : mono_ns;
}

/* A time that is ahead of itself by this much, and wraps, may be any. */
static bool may_meet(uint64_t first, uint64_t last, uint64_t ahead, uint64_t from, uint64_t to)
{
	first += ahead;
	last += ahead;
	return last < first || (last >= from && first < to);
}

bool wall_clock_may_meet(const struct wall_clock *c, uint64_t first_ns, uint64_t last_ns,
			 uint64_t from_ns, uint64_t to_ns)
{
	size_t i, last;

	if (!c->nr)
		return may_meet(first_ns, last_ns, 0, from_ns, to_ns);
	i = nearest(c, first_ns);
	last = nearest(c, last_ns);
	if (last < i || last - i >= MANY_MARKS)
		return true;
	for (; i <= last; i++)
		if (may_meet(first_ns, last_ns, (uint64_t)c->v[i].ahead_ns, from_ns, to_ns))
			return true;
	return false;
}

void wall_clock_thin_out(struct wall_clock *c, size_t most)
{
	while (c->nr > most && c->nr > 2) {
		size_t nr = 0;

		for (size_t i = 0; i < c->nr; i++)
			if (i % 2 == 0 || i + 1 == c->nr)
				c->v[nr++] = c->v[i];
		c->nr = nr;
	}
}
