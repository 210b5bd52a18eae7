/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each view takes the nodes of the old tree one by one and adds a path for each of them to a new
 * one: an inverted tree the functions from a node outwards, for all nodes with a weight of their
 * own; callers likewise, but for the whole weight of the outermost nodes of the function; callees
 * the same path below those nodes. Both trees share the names. The number of steps is limited, as
 * paths may be long: what comes then is counted below "[too many stacks]".
 */
#include "src/profile/view.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/profile/name_match.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/profile/tree_builder.h"

struct viewing {
	const struct view *view;
	const struct profile *from;
	struct tree_builder to;
	uint64_t steps, max_steps;
	uint32_t *place;		/* by node of the old tree: where its self weight went */
};

bool view_is_plain(const struct view *v)
{
	return !v->inverted && !v->callers && !v->callees;
}

static uint32_t add_child(struct viewing *v, uint32_t at, uint32_t node)
{
	struct node key = v->from->nodes[node];

	return tree_builder_child(&v->to, at, &key);
}

/* Adds the levels above node, outermost first, and returns the last one. They are few. */
static uint32_t add_levels(struct viewing *v, uint32_t node)
{
	const struct node *nodes = v->from->nodes;
	uint32_t levels[16], at = 0;
	size_t nr = 0;

	for (uint32_t n = node; n; n = nodes[n].parent)
		if (nodes[n].is_level && nr < sizeof(levels) / sizeof(levels[0]))
			levels[nr++] = n;
	while (nr)
		at = add_child(v, at, levels[--nr]);
	return at;
}

/*
 * Adds the path from node outwards below the root, or below its levels. Returns the last node of
 * it.
 */
static uint32_t add_inverted(struct viewing *v, uint32_t node, uint64_t weight, uint64_t samples)
{
	bool keeps = v->view->keeps_levels;
	uint32_t at = keeps ? add_levels(v, node) : 0;

	for (uint32_t n = node; n && !tree_builder_is_rest(&v->to, at);
	     n = v->from->nodes[n].parent) {
		if (v->steps++ > v->max_steps)
			at = tree_builder_rest(&v->to, at);
		else if (!keeps || !v->from->nodes[n].is_level)
			at = add_child(v, at, n);
	}
	tree_builder_add(&v->to, at, weight, samples);
	return at;
}

static void invert(struct viewing *v)
{
	for (uint32_t n = 0; n < v->from->nr_nodes && !v->to.failed; n++) {
		const struct node *nd = &v->from->nodes[n];

		if (nd->self || nd->self_samples)
			v->place[n] = add_inverted(v, n, nd->self, nd->self_samples);
	}
}

/*
 * The outermost nodes that are meant, which no other one calls: a byte for each node, 1 for those
 * and 2 for all below them. NULL: out of memory.
 */
static uint8_t *find_outermost(const struct profile *p, const uint8_t *matches)
{
	uint8_t *of = calloc(p->nr_nodes, 1);

	for (uint32_t n = 1; of && n < p->nr_nodes; n++) {
		const struct node *nd = &p->nodes[n];

		assert(nd->parent < n);
		if (of[nd->parent])
			of[n] = 2;
		else
			of[n] = matches[nd->name] && !(nd->flags & NODE_SYNTHETIC);
	}
	return of;
}

static void add_callers(struct viewing *v, const uint8_t *of)
{
	for (uint32_t n = 1; n < v->from->nr_nodes && !v->to.failed; n++) {
		const struct node *nd = &v->from->nodes[n];

		if (of[n] == 1)
			v->place[n] = add_inverted(v, n, nd->total, nd->total_samples);
		else if (of[n] == 2)
			v->place[n] = v->place[nd->parent];
	}
}

/* A caller has a lower index. */
static void add_callees(struct viewing *v, const uint8_t *of)
{
	for (uint32_t n = 1; n < v->from->nr_nodes && !v->to.failed; n++) {
		const struct node *nd = &v->from->nodes[n];
		uint32_t up = 0;

		if (!of[n])
			continue;
		if (of[n] == 2)
			up = v->place[nd->parent];
		else if (v->view->keeps_levels)
			up = add_levels(v, n);
		v->place[n] = add_child(v, up, n);
		tree_builder_add(&v->to, v->place[n], nd->self, nd->self_samples);
	}
}

static int add_part(struct viewing *v)
{
	const char *wanted = v->view->callers ? v->view->callers : v->view->callees;
	uint8_t *matches, *of;
	int err = name_match(v->from, v->view->callers ? "callers" : "callees", wanted, &matches);

	if (err)
		return err;
	of = find_outermost(v->from, matches);
	free(matches);
	if (!of)
		return -ENOMEM;
	if (v->view->callers)
		add_callers(v, of);
	else
		add_callees(v, of);
	free(of);
	return 0;
}

static uint32_t *new_places(const struct profile *p)
{
	uint32_t *place = malloc(p->nr_nodes * sizeof(*place));

	for (size_t n = 0; place && n < p->nr_nodes; n++)
		place[n] = NODE_NONE;
	return place;
}

/*
 * Makes one view. The new tree takes over the names and all facts of the old one. *place, which is
 * the caller's in any case, says where the nodes went.
 */
static int make(const struct view *view, const struct report_limits *limits, struct profile **p,
		uint32_t **place)
{
	struct viewing v = { .view = view, .from = *p, .place = new_places(*p) };
	struct profile *to = NULL;
	int err;

	*place = v.place;
	if (!v.place || tree_builder_init_names(&v.to, (*p)->names))
		return -ENOMEM;
	v.max_steps = limits->steps ? limits->steps : UINT64_MAX;
	v.to.by_line = view->by_line;
	if (limits->nodes)
		v.to.max_nodes = limits->nodes;
	err = view->callers || view->callees ? add_part(&v) : 0;
	if (!err && !view->callers && !view->callees)
		invert(&v);
	if (!err)
		to = tree_builder_take(&v.to);
	if (to) {
		to->facts = (*p)->facts;
		to->facts.weight = to->nodes[0].total;
		to->facts.samples = to->nodes[0].total_samples;
		to->health = (*p)->health;
		(*p)->names = NULL;
		(*p)->health = NULL;
		profile_free(*p);
		*p = to;
		return 0;
	}
	if (v.to.p)
		v.to.p->names = NULL;	/* they stay those of the old tree */
	tree_builder_release(&v.to);
	return err ? err : -ENOMEM;
}

/* Where the nodes went that went to those of which "then" says where they went. */
static void follow(uint32_t *place, size_t nr, const uint32_t *then)
{
	for (size_t n = 0; n < nr; n++)
		if (place[n] != NODE_NONE)
			place[n] = then[place[n]];
}

int view_apply_placed(const struct view *view, const struct report_limits *limits,
		      struct profile **p, uint32_t **place)
{
	struct view part = { .keeps_levels = view->keeps_levels, .by_line = view->by_line,
			     .callers = view->callers,
			     .callees = view->callees };
	struct view turn = { .inverted = true, .keeps_levels = view->keeps_levels,
			     .by_line = view->by_line };
	bool has_part = part.callers || part.callees;
	uint32_t *turned = NULL;
	size_t nr = (*p)->nr_nodes;
	int err = 0;

	*place = NULL;
	if (has_part)
		err = make(&part, limits, p, place);
	if (!err && view->inverted && !view->callers)
		err = make(&turn, limits, p, has_part ? &turned : place);
	if (!err && turned)
		follow(*place, nr, turned);
	free(turned);
	if (!err)
		(*p)->facts.is_inverted = view->inverted || view->callers;
	return err;
}

int view_apply(const struct view *view, const struct report_limits *limits, struct profile **p)
{
	uint32_t *place;
	int err = view_apply_placed(view, limits, p, &place);

	free(place);
	return err;
}
