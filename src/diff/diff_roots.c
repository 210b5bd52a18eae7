/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/diff/diff_roots.h"

#include <string.h>

#include "src/profile/profile.h"
#include "src/profile/profile_delta.h"

static bool is_name(uint8_t kind)
{
	return kind == FOLD_BY_COMM || kind == FOLD_BY_PROGRAM || kind == FOLD_BY_PROCESS ||
	       kind == FOLD_BY_THREAD;
}

/* The depth of the first level that is a name, from 0 on; -1: there is none. */
static int depth_of_names(const struct fold_by *by)
{
	for (int i = 0; i < by->nr; i++)
		if (is_name(by->v[i]))
			return i;
	return -1;
}

struct search {
	const struct profile *p;
	uint32_t before, after;		/* the heaviest nodes; NODE_NONE: none yet */
	bool is_shared;
};

static bool is_heavier(const struct search *s, uint32_t node, uint32_t than, bool after)
{
	const struct delta *d = &s->p->deltas->nodes[node].total;
	uint64_t least = 0;

	if (than != NODE_NONE && after)
		least = s->p->deltas->nodes[than].total.after;
	else if (than != NODE_NONE)
		least = s->p->deltas->nodes[than].total.before;
	return (after ? d->after : d->before) > least;
}

static void look_at(struct search *s, uint32_t node)
{
	const struct delta *d = &s->p->deltas->nodes[node].total;

	s->is_shared |= !s->p->nodes[node].is_level || (d->before && d->after);
	if (is_heavier(s, node, s->before, false))
		s->before = node;
	if (is_heavier(s, node, s->after, true))
		s->after = node;
}

/* Levels are few, so the depth of this is, too (FOLD_BY_MAX). */
static void look_below(struct search *s, uint32_t parent, int depth)
{
	uint32_t n = s->p->nodes[parent].first_child;

	for (; n != NODE_NONE && !s->is_shared; n = s->p->nodes[n].next_sibling) {
		if (!depth)
			look_at(s, n);
		else if (s->p->nodes[n].is_level)
			look_below(s, n, depth - 1);
	}
}

void diff_roots_find(const struct profile *p, const struct fold_by *by, struct diff_roots *out)
{
	struct search s = { .p = p, .before = NODE_NONE, .after = NODE_NONE };
	int depth = depth_of_names(by);

	*out = (struct diff_roots){ .are_apart = false };
	if (depth < 0)
		return;
	look_below(&s, 0, depth);
	if (s.is_shared || s.before == NODE_NONE || s.after == NODE_NONE)
		return;
	out->are_apart = true;
	out->before = profile_name(p, p->nodes[s.before].name);
	out->after = profile_name(p, p->nodes[s.after].name);
}

struct fold_by diff_roots_without(const struct fold_by *by)
{
	struct fold_by out = { .nr = 0 };

	for (int i = 0; i < by->nr; i++)
		if (!is_name(by->v[i]))
			out.v[out.nr++] = by->v[i];
	if (!out.nr)
		out.v[out.nr++] = FOLD_BY_NONE;
	return out;
}
