/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/wall_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/model/record.h"

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

uint64_t wall_clock_real(const struct wall_clock *c, uint64_t mono_ns)
{
	size_t after;		/* first mark after mono_ns */

	if (!c->nr)
		return mono_ns;
	after = bisect(c->nr, i, c->v[i].mono_ns <= mono_ns);
	if (after == c->nr ||
	    (after && mono_ns - c->v[after - 1].mono_ns <= c->v[after].mono_ns - mono_ns))
		after--;
	return mono_ns + (uint64_t)c->v[after].ahead_ns;
}
