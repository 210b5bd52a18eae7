/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call tree for a page: its nodes in pre-order, so that a subtree is a range of them. */
#include <errno.h>
#include <stdlib.h>

#include "formats/render/page/page_data.h"
#include "formats/render/page/page_functions.h"
#include "formats/render/page/page_message.h"
#include "src/profile/profile.h"

/* nodes: in pre-order, .up and .function of each; places: by node of the profile. */
struct page_tree {
	const struct profile *p;
	struct page_functions *functions;
	struct page_node *nodes;
	uint32_t *places;
};

static int add_node(struct page_tree *t, uint32_t at, uint32_t place)
{
	const struct node *n = &t->p->nodes[at];
	uint32_t function = page_function_of(t->functions, n);

	if (function == IX_NONE)
		return -ENOMEM;
	t->places[at] = place;
	t->nodes[place] = (struct page_node){ at ? place - t->places[n->parent] : 0, function,
					      n->flags };
	return 0;
}

static int add_nodes(struct page_tree *t)
{
	const struct node *nodes = t->p->nodes;
	uint32_t at = 0, nr = 0;

	for (;;) {
		if (add_node(t, at, nr++))
			return -ENOMEM;
		if (nodes[at].first_child != NODE_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		while (at && nodes[at].next_sibling == NODE_NONE)
			at = nodes[at].parent;
		if (!at)
			return 0;
		at = nodes[at].next_sibling;
	}
}

int page_tree_put(struct page_data *d, const struct profile *p, uint32_t tree,
		  struct byte_buf *out, uint32_t **places)
{
	struct page_tree t = { .p = p, .functions = &d->functions };
	int err = -ENOMEM;

	page_functions_begin_tree(&d->functions, p->names);
	t.nodes = calloc(p->nr_nodes, sizeof(*t.nodes));
	t.places = calloc(p->nr_nodes, sizeof(*t.places));
	if (t.nodes && t.places)
		err = add_nodes(&t);
	if (!err)
		page_message_nodes(out, tree, 0, t.nodes, p->nr_nodes);
	else
		free(t.places);
	*places = err ? NULL : t.places;
	free(t.nodes);
	return err;
}
