/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/tree_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"

struct node_key {
	const struct profile *p;
	uint32_t parent;
	const struct node *key;
};

static bool same_node(const void *ctx, uint32_t id)
{
	const struct node_key *k = ctx;
	const struct node *n = &k->p->nodes[id];

	return n->parent == k->parent && n->name == k->key->name && n->binary == k->key->binary &&
	       n->kind == k->key->kind && !((n->flags ^ k->key->flags) & NODE_INLINED) &&
	       (!n->file || !k->key->file || n->file == k->key->file);
}

static uint64_t hash_node(uint32_t parent, const struct node *key)
{
	uint64_t h = hash_u64(parent, key->name);

	return hash_u64(h, (uint64_t)key->binary << 16 | (uint64_t)key->kind << 8 |
				   (key->flags & NODE_INLINED));
}

uint32_t tree_builder_name(struct tree_builder *b, const char *s, size_t len)
{
	uint32_t nr = intern_count(b->p->names), id;

	if (b->max_name_bytes && b->name_bytes > b->max_name_bytes) {
		b->is_full = true;
		return b->unnamed;
	}
	id = intern_bytes(b->p->names, s, len);
	b->failed |= id == IX_NONE;
	b->name_bytes += intern_count(b->p->names) > nr ? len + 1 : 0;
	return id;
}

static struct node *push_node(struct tree_builder *b, uint32_t parent, const struct node *key)
{
	struct profile *p = b->p;
	struct node *n = array_push(&p->nodes, &p->nr_nodes, &p->cap_nodes);

	if (!n)
		return NULL;
	n->parent = parent;
	n->first_child = n->next_sibling = NODE_NONE;
	n->depth = parent == NODE_NONE ? 0 : (uint16_t)(p->nodes[parent].depth + 1);
	n->name = key->name;
	n->binary = key->binary;
	n->kind = key->kind;
	n->flags = key->flags;
	n->file = key->file;
	n->line = key->line;
	return n;
}

int tree_builder_init(struct tree_builder *b)
{
	struct node root = { .kind = FRAME_SYNTHETIC, .flags = NODE_SYNTHETIC };

	memset(b, 0, sizeof(*b));
	b->max_depth = TREE_MAX_DEPTH;
	b->max_nodes = TREE_MAX_NODES;
	b->p = calloc(1, sizeof(*b->p));
	if (b->p)
		b->p->names = intern_new();
	if (b->p && b->p->names) {
		root.name = tree_builder_name(b, "all", 3);
		b->deeper = tree_builder_name(b, "[deeper]", 8);
		b->too_many = tree_builder_name(b, "[too many stacks]", 17);
		b->unnamed = tree_builder_name(b, "[too many names]", 16);
		if (!b->failed && push_node(b, NODE_NONE, &root))
			return 0;
	}
	tree_builder_release(b);
	return -ENOMEM;
}

void tree_builder_release(struct tree_builder *b)
{
	profile_free(b->p);
	ix_release(&b->index);
	memset(b, 0, sizeof(*b));
}

static bool stands_for_rest(const struct tree_builder *b, const struct node *n)
{
	return n->kind == FRAME_SYNTHETIC && (n->name == b->deeper || n->name == b->too_many);
}

/* The files are the same, or one is unknown (same_node()). */
static void merge_line(struct node *n, const struct node *key)
{
	if (!key->file || (n->file && (!key->line || (n->line && n->line <= key->line))))
		return;
	n->file = key->file;
	n->line = key->line;
}

static uint32_t find_or_push(struct tree_builder *b, uint32_t parent, const struct node *key)
{
	struct node_key k = { b->p, parent, key };
	uint64_t hash = hash_node(parent, key);
	uint32_t id = ix_find(&b->index, hash, same_node, &k);

	if (id != IX_NONE) {
		b->p->nodes[id].flags |= key->flags;
		merge_line(&b->p->nodes[id], key);
		return id;
	}
	id = (uint32_t)b->p->nr_nodes;
	if (!push_node(b, parent, key) || ix_add(&b->index, hash, id)) {
		b->failed = true;
		return parent;
	}
	return id;
}

static bool is_new(const struct tree_builder *b, uint32_t parent, const struct node *key)
{
	struct node_key k = { b->p, parent, key };

	return ix_find(&b->index, hash_node(parent, key), same_node, &k) == IX_NONE;
}

bool tree_builder_is_rest(const struct tree_builder *b, uint32_t node)
{
	return stands_for_rest(b, &b->p->nodes[node]);
}

uint32_t tree_builder_rest(struct tree_builder *b, uint32_t parent)
{
	struct node rest = { .kind = FRAME_SYNTHETIC, .flags = NODE_SYNTHETIC,
			     .name = b->too_many };

	b->is_full = true;
	if (b->failed || tree_builder_is_rest(b, parent))
		return parent;
	/* At most twice max_nodes: each old node may still get one child for the rest. */
	if (b->p->nr_nodes < 2 * (size_t)b->max_nodes || !is_new(b, parent, &rest))
		return find_or_push(b, parent, &rest);
	return parent;
}

uint32_t tree_builder_child(struct tree_builder *b, uint32_t parent, const struct node *key)
{
	struct node rest = { .kind = FRAME_SYNTHETIC, .flags = NODE_SYNTHETIC, .name = b->deeper };
	const struct node *up = &b->p->nodes[parent];

	if (b->failed || stands_for_rest(b, up))
		return parent;
	if (up->depth + 1u >= b->max_depth)
		return find_or_push(b, parent, &rest);
	if (b->p->nr_nodes >= b->max_nodes && is_new(b, parent, key))
		return tree_builder_rest(b, parent);
	return find_or_push(b, parent, key);
}

void tree_builder_add(struct tree_builder *b, uint32_t node, uint64_t weight, uint64_t samples)
{
	uint64_t room = UINT64_MAX - b->weight;
	struct node *n = &b->p->nodes[node];

	if (weight > room)
		weight = room;
	b->weight += weight;
	n->self += weight;
	n->self_samples += samples;
}

/* A node has a higher index than its parent, so one pass backwards is enough. */
static void sum_totals(struct profile *p)
{
	for (size_t i = p->nr_nodes; i-- > 0;) {
		struct node *n = &p->nodes[i];

		n->total += n->self;
		n->total_samples += n->self_samples;
		if (n->parent == NODE_NONE)
			continue;
		p->nodes[n->parent].total += n->total;
		p->nodes[n->parent].total_samples += n->total_samples;
	}
}

struct place {				/* sort key of a node that makes siblings neighbours */
	uint32_t parent, rank, binary_rank, kind_flags, node;
};

static int by_place(const void *x, const void *y)
{
	const struct place *a = x, *b = y;
	int order = (a->parent > b->parent) - (a->parent < b->parent);

	if (!order)
		order = (a->rank > b->rank) - (a->rank < b->rank);
	if (!order)
		order = (a->kind_flags > b->kind_flags) - (a->kind_flags < b->kind_flags);
	return order ? order
		     : (a->binary_rank > b->binary_rank) - (a->binary_rank < b->binary_rank);
}

static int link_children(struct profile *p)
{
	uint32_t *rank = profile_rank_names(p);
	struct place *v = malloc(p->nr_nodes * sizeof(*v));
	int err = rank && v ? 0 : -ENOMEM;

	for (uint32_t i = 1; !err && i < p->nr_nodes; i++) {
		const struct node *n = &p->nodes[i];

		v[i] = (struct place){ n->parent, rank[n->name], rank[n->binary],
				       (uint32_t)n->kind << 1 | (n->flags & NODE_INLINED), i };
	}
	if (!err && p->nr_nodes > 1)
		qsort(v + 1, p->nr_nodes - 1, sizeof(*v), by_place);
	for (size_t i = err ? 0 : p->nr_nodes; i-- > 1;) {
		p->nodes[v[i].node].next_sibling = p->nodes[v[i].parent].first_child;
		p->nodes[v[i].parent].first_child = v[i].node;
	}
	free(rank);
	free(v);
	return err;
}

struct profile *tree_builder_take(struct tree_builder *b)
{
	struct profile *p = b->p;

	ix_release(&b->index);
	if (b->failed || link_children(p))
		return NULL;
	sum_totals(p);
	b->p = NULL;
	return p;
}
