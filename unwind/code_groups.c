/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_groups.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_LEVEL (1 << 26)		/* bytes; a larger frame is not believed */
#define MAX_DISTANCE (1 << 28)

int code_groups_init(struct code_groups *g, size_t nr)
{
	g->v = calloc(nr + 1, sizeof(*g->v));
	g->nr = nr;
	for (size_t i = 0; g->v && i < nr; i++) {
		g->v[i].up = (uint32_t)i;
		g->v[i].size = 1;
	}
	return g->v ? 0 : -ENOMEM;
}

void code_groups_release(struct code_groups *g)
{
	free(g->v);
	*g = (struct code_groups){ 0 };
}

/* Paths are short, because the smaller group goes below the larger one, and are halved here. */
uint32_t code_groups_root(struct code_groups *g, uint32_t a, int32_t *by)
{
	int32_t sum = 0;

	while (g->v[a].up != a) {
		struct code_group *x = &g->v[a];
		const struct code_group *up = &g->v[x->up];

		if (up->up != x->up) {
			x->by += up->by;
			x->up = up->up;
		}
		sum += x->by;
		a = x->up;
	}
	*by = sum;
	return a;
}

/* Puts root a below root b, with value a = value b + by. */
static void put_below(struct code_groups *g, uint32_t a, uint32_t b, int32_t by)
{
	struct code_group *x = &g->v[a], *y = &g->v[b];

	/* level a = level b - by: what lies higher is less far below the CFA. */
	if (x->evidence > y->evidence) {
		y->evidence = x->evidence;
		y->level = x->level + by;
	}
	y->is_bad |= x->is_bad;
	y->size += x->size;
	x->up = b;
	x->by = by;
}

/* A prologue does not count against a return: it may be in the middle of a function. */
static bool agree(const struct code_group *a, const struct code_group *b, int64_t by)
{
	enum code_evidence less = a->evidence < b->evidence ? a->evidence : b->evidence;

	return !less || (less < CODE_BY_RETURN && a->evidence != b->evidence) ||
	       a->level == (int64_t)b->level - by;
}

bool code_groups_join(struct code_groups *g, uint32_t a, uint32_t b, int32_t by)
{
	int32_t from_a, from_b;
	uint32_t x = code_groups_root(g, a, &from_a), y = code_groups_root(g, b, &from_b);
	/* root x = value a - from_a = value b + by - from_a = root y + d */
	int64_t d = (int64_t)from_b + by - from_a;

	if (x == y)
		return !d;
	if (d > MAX_DISTANCE || d < -MAX_DISTANCE || g->v[x].is_bad || g->v[y].is_bad ||
	    !agree(&g->v[x], &g->v[y], d))
		return false;
	if (g->v[x].size <= g->v[y].size)
		put_below(g, x, y, (int32_t)d);
	else
		put_below(g, y, x, (int32_t)-d);
	return true;
}

void code_groups_tell(struct code_groups *g, uint32_t a, int64_t level, enum code_evidence how)
{
	int32_t by;
	struct code_group *r = &g->v[code_groups_root(g, a, &by)];
	int64_t of_root = level + by;

	if (of_root > MAX_LEVEL || of_root < -MAX_LEVEL || how < r->evidence)
		return;
	if (how == r->evidence && of_root != r->level)
		r->is_bad = true;
	r->evidence = (uint8_t)how;
	r->level = (int32_t)of_root;
}

void code_groups_mark(struct code_groups *g, uint32_t a)
{
	int32_t by;

	g->v[code_groups_root(g, a, &by)].is_marked = true;
}

bool code_groups_is_marked(struct code_groups *g, uint32_t a)
{
	int32_t by;

	return g->v[code_groups_root(g, a, &by)].is_marked;
}

void code_groups_spoil(struct code_groups *g, uint32_t a)
{
	int32_t by;

	g->v[code_groups_root(g, a, &by)].is_bad = true;
}

bool code_groups_level(struct code_groups *g, uint32_t a, int32_t *level)
{
	int32_t by;
	const struct code_group *r = &g->v[code_groups_root(g, a, &by)];

	*level = r->level - by;
	return r->evidence && !r->is_bad;
}

bool code_groups_is_open(struct code_groups *g, uint32_t a)
{
	int32_t by;
	const struct code_group *r = &g->v[code_groups_root(g, a, &by)];

	return !r->evidence && !r->is_bad;
}

enum code_evidence code_groups_evidence(struct code_groups *g, uint32_t a)
{
	int32_t by;

	return g->v[code_groups_root(g, a, &by)].evidence;
}
