/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call tree for a page: its nodes in pre-order, so that a subtree is a range of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/page/page_columns.h"
#include "formats/render/page/page_data.h"
#include "formats/render/page/page_functions.h"
#include "src/base/bytes.h"
#include "src/profile/profile.h"

struct page_tree {
	const struct profile *p;
	struct page_functions functions;
	uint32_t *order, *places;	/* nodes in pre-order; their places in it, by node */
	struct byte_buf depths, functions_of, flags;
};

static void find_order(struct page_tree *t)
{
	const struct node *nodes = t->p->nodes;
	uint32_t at = 0, nr = 0;

	for (;;) {
		t->places[at] = nr;
		t->order[nr++] = at;
		if (nodes[at].first_child != NODE_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		while (at && nodes[at].next_sibling == NODE_NONE)
			at = nodes[at].parent;
		if (!at)
			return;
		at = nodes[at].next_sibling;
	}
}

static int put_nodes(struct page_tree *t)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < t->p->nr_nodes; i++) {
		const struct node *n = &t->p->nodes[t->order[i]];
		uint32_t function = page_function_of(&t->functions, n);

		if (function == IX_NONE)
			return -ENOMEM;
		bb_uv(&t->depths, i ? depth + 1u - n->depth : 0);
		bb_uv(&t->functions_of, function);
		bb_uv(&t->flags, n->flags);
		depth = n->depth;
	}
	return 0;
}

static void put_all(struct page_tree *t, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	page_tables_put_functions(&t->functions, 0, out);
	bb_uv(&b, t->p->nr_nodes);
	bb_bytes(&b, t->depths.v, t->depths.nr);
	bb_bytes(&b, t->functions_of.v, t->functions_of.nr);
	bb_bytes(&b, t->flags.v, t->flags.nr);
	b.bad |= t->depths.bad || t->functions_of.bad || t->flags.bad;
	page_put_section(out, &b);
	bb_release(&b);
}

static void release(struct page_tree *t)
{
	page_functions_release(&t->functions);
	free(t->order);
	bb_release(&t->depths);
	bb_release(&t->functions_of);
	bb_release(&t->flags);
}

int page_tree_put(struct page_data *d, const struct profile *p, struct byte_buf *out,
		  uint32_t **places)
{
	struct page_tree t = { .p = p,
			       .functions = { .names = p->names, .strings = d->t.strings } };
	int err = -ENOMEM;

	t.order = calloc(p->nr_nodes, sizeof(*t.order));
	t.places = calloc(p->nr_nodes, sizeof(*t.places));
	if (t.order && t.places) {
		find_order(&t);
		err = put_nodes(&t);
	}
	if (!err)
		put_all(&t, out);
	else
		free(t.places);
	*places = err ? NULL : t.places;
	release(&t);
	return err;
}
