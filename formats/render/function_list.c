/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/function_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/profile/profile.h"

struct function_key {
	const struct function_cost *v;
	const struct node *n;
};

static bool same_function(const void *ctx, uint32_t id)
{
	const struct function_key *k = ctx;
	const struct function_cost *f = &k->v[id];

	return f->name == k->n->name && f->binary == k->n->binary && f->kind == k->n->kind;
}

/* The index of the function of a node, made if it is new; IX_NONE: out of memory. */
static uint32_t function_of(struct function_list *l, struct hash_index *index, const struct node *n)
{
	struct function_key k = { l->v, n };
	uint64_t hash = hash_u64(hash_u64(n->kind, n->name), n->binary);
	uint32_t id = ix_find(index, hash, same_function, &k);
	struct function_cost *f;

	if (id != IX_NONE)
		return id;
	f = array_push(&l->v, &l->nr, &l->cap);
	if (!f || ix_add(index, hash, (uint32_t)l->nr - 1))
		return IX_NONE;
	*f = (struct function_cost){ .name = n->name, .binary = n->binary, .kind = n->kind };
	return (uint32_t)l->nr - 1;
}

/* Sets functions[node] for all nodes; IX_NONE for the root and synthetic nodes. */
static int find_functions(struct function_list *l, const struct profile *p, uint32_t *functions)
{
	struct hash_index index = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < p->nr_nodes; i++) {
		functions[i] = IX_NONE;
		if (!i || (p->nodes[i].flags & NODE_SYNTHETIC))
			continue;
		functions[i] = function_of(l, &index, &p->nodes[i]);
		err = functions[i] == IX_NONE ? -ENOMEM : 0;
		if (!err)
			l->v[functions[i]].flags |= p->nodes[i].flags;
	}
	ix_release(&index);
	return err;
}

static void enter(struct function_list *l, const struct node *n, uint32_t function)
{
	struct function_cost *f = &l->v[function];

	f->self += n->self;
	f->self_samples += n->self_samples;
	if (f->on_path++)
		return;
	f->total += n->total;
	f->total_samples += n->total_samples;
}

static void count(struct function_list *l, const struct profile *p, const uint32_t *functions)
{
	uint32_t at = 0;

	for (;;) {
		if (functions[at] != IX_NONE)
			enter(l, &p->nodes[at], functions[at]);
		if (p->nodes[at].first_child != NODE_NONE) {
			at = p->nodes[at].first_child;
			continue;
		}
		for (;; at = p->nodes[at].parent) {
			if (functions[at] != IX_NONE)
				l->v[functions[at]].on_path--;
			if (p->nodes[at].next_sibling != NODE_NONE ||
			    p->nodes[at].parent == NODE_NONE)
				break;
		}
		if (p->nodes[at].next_sibling == NODE_NONE)
			return;
		at = p->nodes[at].next_sibling;
	}
}

static int by_cost(const void *x, const void *y, void *ranks)
{
	const struct function_cost *a = x, *b = y;
	const uint32_t *rank = ranks;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->name != b->name)
		return rank[a->name] < rank[b->name] ? -1 : 1;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	return rank[a->binary] < rank[b->binary] ? -1 : rank[a->binary] > rank[b->binary];
}

int function_list_init(struct function_list *l, const struct profile *p)
{
	uint32_t *functions = malloc(p->nr_nodes * sizeof(*functions));
	uint32_t *rank = profile_rank_names(p);
	int err = -ENOMEM;

	memset(l, 0, sizeof(*l));
	if (functions && rank)
		err = find_functions(l, p, functions);
	if (!err) {
		count(l, p, functions);
		if (l->nr)
			qsort_r(l->v, l->nr, sizeof(*l->v), by_cost, rank);
	}
	free(functions);
	free(rank);
	if (err)
		function_list_release(l);
	return err;
}

void function_list_release(struct function_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
