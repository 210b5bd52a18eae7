/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/top_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/profile/profile.h"

struct weighed {
	uint64_t total;
	uint32_t node;
};

/* Rows that are still to come, the next one last. */
struct pending {
	struct tree_row *v;
	size_t nr, cap;
};

static int lightest_first(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return x->node > y->node ? -1 : 1;
}

static int add_children(struct pending *todo, const struct profile *p, uint32_t node,
			uint16_t indent)
{
	struct weighed *v = NULL;
	size_t nr = 0, cap = 0;
	int err = 0;

	for (uint32_t c = p->nodes[node].first_child; c != NODE_NONE && !err;
	     c = p->nodes[c].next_sibling) {
		struct weighed *w = array_push(&v, &nr, &cap);

		err = w ? 0 : -ENOMEM;
		if (w)
			*w = (struct weighed){ p->nodes[c].total, c };
	}
	if (nr)
		qsort(v, nr, sizeof(*v), lightest_first);
	for (size_t i = 0; i < nr && !err; i++) {
		struct tree_row *row = array_push(&todo->v, &todo->nr, &todo->cap);

		err = row ? 0 : -ENOMEM;
		if (row)
			*row = (struct tree_row){ v[i].node, indent, false, false };
	}
	free(v);
	return err;
}

int tree_rows_init(struct tree_rows *r, const struct profile *p, const uint8_t *open,
		   size_t nr_open)
{
	struct pending todo = { .nr = 0 };
	int err = add_children(&todo, p, 0, 0);

	*r = (struct tree_rows){ .nr = 0 };
	while (!err && todo.nr) {
		struct tree_row row = todo.v[--todo.nr], *place;

		assert(row.node < p->nr_nodes);
		row.has_children = p->nodes[row.node].first_child != NODE_NONE;
		row.is_open = row.node < nr_open && open[row.node] && row.has_children;
		place = array_push(&r->v, &r->nr, &r->cap);
		err = place ? 0 : -ENOMEM;
		if (place)
			*place = row;
		if (!err && row.is_open)
			err = add_children(&todo, p, row.node, (uint16_t)(row.indent + 1));
	}
	free(todo.v);
	if (err)
		tree_rows_release(r);
	return err;
}

void tree_rows_release(struct tree_rows *r)
{
	free(r->v);
	memset(r, 0, sizeof(*r));
}
