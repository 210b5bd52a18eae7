/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a call tree becomes boxes.
 *
 * A box is as wide as its node's total weight. The children of a node stand side by side from its
 * left edge on, and its self, the weight that belongs to no child, is the room to their right:
 *
 *	all 10					left edge
 *	+-- a 6 (self 1)			0
 *	|   +-- b 3				0
 *	|   +-- c 2				3, and a's self is 5 .. 6
 *	+-- d 3					6, and the self of all is 9 .. 10
 *
 * Edges are integers in units of weight. Pixels would have to be rounded, and the error of a parent
 * would be added to that of its children; so the drawing divides an exact edge by the exact total.
 *
 * Two steps decide and place. First find_cut() ranks the nodes: a larger total comes first, then a
 * smaller depth, then a lower index. All nodes up to a certain rank get a box: up to the lightest
 * one that can be seen or, if these are too many, up to number max_boxes. A parent has at least the
 * total of each child and is less deep, so it ranks before them: a node with a box always has a
 * parent with a box. Ranks are sorted only if there are more such nodes than boxes are allowed.
 *
 * Then place() goes through the tree once in pre-order, without recursion, as a trace may be deep.
 * It carries x, the left edge of what comes next: passing a box without children, or a node without
 * a box, adds its total; going up from a last child adds the self of its parent.
 *
 * Limits: nodes without a box leave a gap, which looks like self. layout.hidden counts them, and
 * layout.hidden_weight is that of the outermost of them, so that no weight counts twice.
 */
#include "formats/render/layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/profile/profile.h"

/*
 * Importance of a node: the smaller rank is more important. A parent always ranks before its
 * children.
 */
struct rank {
	uint64_t total;
	uint32_t depth, node;
};

static struct rank rank_of(const struct profile *p, uint32_t n)
{
	return (struct rank){ p->nodes[n].total, p->nodes[n].depth, n };
}

static int rank_compare(const void *va, const void *vb)
{
	const struct rank *a = va, *b = vb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static uint64_t least_weight(uint64_t total, double min_percent)
{
	uint64_t seen = total / LAYOUT_NARROWEST + !!(total % LAYOUT_NARROWEST);
	double asked = min_percent / 100 * (double)total;

	if (asked >= (double)total)
		return total;
	return asked > (double)seen ? (uint64_t)asked + ((double)(uint64_t)asked < asked) : seen;
}

/* Sets *cut to the last rank that gets a box. 0 or -ENOMEM. */
static int find_cut(const struct profile *p, uint64_t least, size_t max_boxes, struct rank *cut)
{
	struct rank *all;
	size_t nr = 0;

	*cut = (struct rank){ least, UINT32_MAX, UINT32_MAX };
	for (size_t i = 0; i < p->nr_nodes; i++)
		nr += p->nodes[i].total >= least;
	if (nr <= max_boxes)
		return 0;

	all = malloc(nr * sizeof(*all));
	if (!all)
		return -ENOMEM;
	nr = 0;
	for (uint32_t i = 0; i < p->nr_nodes; i++)
		if (p->nodes[i].total >= least)
			all[nr++] = rank_of(p, i);
	qsort(all, nr, sizeof(*all), rank_compare);
	*cut = all[max_boxes - 1];
	free(all);
	return 0;
}

static int add_box(struct layout *l, const struct node *nd, struct box box)
{
	struct box *b = array_push(&l->v, &l->nr, &l->cap);

	if (!b)
		return -ENOMEM;
	*b = box;
	if (nd->depth >= l->rows)
		l->rows = nd->depth + 1;
	return 0;
}

static int weigh_rows(struct layout *l, const struct profile *p)
{
	l->row_weight = calloc(l->rows, sizeof(*l->row_weight));
	if (!l->row_weight)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++)
		l->row_weight[p->nodes[l->v[i].node].depth] += p->nodes[l->v[i].node].total;
	return 0;
}

/*
 * One pass without recursion or a stack of its own: a node's self lies to the right of its
 * children, so adding it on the way up gives the left edge of the node that comes next.
 */
static int place(struct layout *l, const struct profile *p, const struct rank *cut)
{
	uint32_t n = 0;
	uint64_t x = 0;

	while (n != NODE_NONE) {
		const struct node *nd = &p->nodes[n];
		struct rank r = rank_of(p, n);

		if (rank_compare(&r, cut) <= 0) {
			if (add_box(l, nd, (struct box){ n, x }))
				return -ENOMEM;
			if (nd->first_child != NODE_NONE) {
				n = nd->first_child;
				continue;
			}
		} else {
			l->hidden_weight += nd->total;
		}
		x += nd->total;
		while (n != NODE_NONE && p->nodes[n].next_sibling == NODE_NONE) {
			n = p->nodes[n].parent;
			if (n != NODE_NONE)
				x += p->nodes[n].self;
		}
		if (n != NODE_NONE)
			n = p->nodes[n].next_sibling;
	}
	return 0;
}

int layout_init(struct layout *l, const struct profile *p, double min_percent, size_t max_boxes)
{
	struct rank cut;
	size_t nr = 0;
	int err;

	memset(l, 0, sizeof(*l));
	if (!p->nr_nodes || !p->nodes[0].total)
		return 0;
	l->total = p->nodes[0].total;

	err = find_cut(p, least_weight(l->total, min_percent), max_boxes ? max_boxes : 1, &cut);
	if (!err)
		err = place(l, p, &cut);
	if (!err)
		err = weigh_rows(l, p);
	if (err) {
		layout_release(l);
		return err;
	}
	for (size_t i = 0; i < p->nr_nodes; i++)
		nr += p->nodes[i].total > 0;
	l->hidden = nr - l->nr;
	return 0;
}

void layout_release(struct layout *l)
{
	free(l->v);
	free(l->row_weight);
	memset(l, 0, sizeof(*l));
}

uint32_t layout_rows(const struct layout *l, uint32_t min, unsigned permille)
{
	uint32_t rows = l->rows;

	while (rows > min && layout_share(l->row_weight[rows - 1], l->total, 1000) < permille)
		rows--;
	return rows;
}

uint64_t layout_share(uint64_t part, uint64_t whole, uint32_t scale)
{
	return whole ? (uint64_t)((unsigned __int128)part * scale / whole) : 0;
}
