/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/tree_builder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"

struct node_key {
	const struct profile *p;
	uint32_t parent;
	const struct node *key;
	bool by_line;
};

static bool same_node(const void *ctx, uint32_t id)
{
	const struct node_key *k = ctx;
	const struct node *n = &k->p->nodes[id];

	return n->parent == k->parent && n->name == k->key->name && n->binary == k->key->binary &&
	       n->kind == k->key->kind && !((n->flags ^ k->key->flags) & NODE_INLINED) &&
	       (!k->by_line || n->line == k->key->line) &&
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
	/* A node has a higher index than its parent: sum_totals() relies on it. */
	assert(parent == NODE_NONE || parent + 1 < p->nr_nodes);
	n->parent = parent;
	n->first_child = n->next_sibling = NODE_NONE;
	n->depth = parent == NODE_NONE ? 0 : (uint16_t)(p->nodes[parent].depth + 1);
	n->name = key->name;
	n->binary = key->binary;
	n->kind = key->kind;
	n->is_level = key->is_level;
	n->flags = key->flags;
	n->file = key->file;
	n->line = key->line;
	return n;
}

int tree_builder_init_names(struct tree_builder *b, struct intern *names)
{
	struct node root = { .kind = FRAME_SYNTHETIC, .flags = NODE_SYNTHETIC };

	memset(b, 0, sizeof(*b));
	b->max_depth = TREE_MAX_DEPTH;
	b->max_nodes = TREE_MAX_NODES;
	b->p = calloc(1, sizeof(*b->p));
	if (!b->p)
		return -ENOMEM;
	b->p->names = names;
	root.name = tree_builder_name(b, "all", 3);
	b->deeper = tree_builder_name(b, "[deeper]", 8);
	b->too_many = tree_builder_name(b, "[too many stacks]", 17);
	b->unnamed = tree_builder_name(b, "[too many names]", 16);
	if (!b->failed && push_node(b, NODE_NONE, &root))
		return 0;
	b->p->names = NULL;
	tree_builder_release(b);
	return -ENOMEM;
}

int tree_builder_init(struct tree_builder *b)
{
	struct intern *names = intern_new();
	int err = names ? tree_builder_init_names(b, names) : -ENOMEM;

	if (err)
		intern_free(names);
	return err;
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
	struct node_key k = { b->p, parent, key, b->by_line };
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
	struct node_key k = { b->p, parent, key, b->by_line };

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

	assert(parent < b->p->nr_nodes);
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

	assert(node < b->p->nr_nodes);
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

/* The children of one node, in the order that they are to have. */
struct siblings {
	const struct profile *p;
	const uint32_t *rank;		/* of names */
	uint32_t *v;
	size_t nr, cap;
};

static int by_name(const void *x, const void *y, void *siblings)
{
	const struct siblings *s = siblings;
	const struct node *a = &s->p->nodes[*(const uint32_t *)x],
			  *b = &s->p->nodes[*(const uint32_t *)y];
	uint32_t i = s->rank[a->name], j = s->rank[b->name];
	unsigned k = (unsigned)a->kind << 1 | (a->flags & NODE_INLINED),
		 l = (unsigned)b->kind << 1 | (b->flags & NODE_INLINED);

	if (i == j && k == l) {
		i = s->rank[a->binary];
		j = s->rank[b->binary];
	} else if (i == j) {
		return k < l ? -1 : 1;
	}
	/* Namesakes of the same file differ in their source file: those met first come first. */
	return i == j ? (a > b) - (a < b) : i < j ? -1 : 1;
}

static int sort_children(struct profile *p, uint32_t parent, struct siblings *s)
{
	uint32_t *next = &p->nodes[parent].first_child;

	s->nr = 0;
	for (uint32_t n = *next; n != NODE_NONE; n = p->nodes[n].next_sibling) {
		uint32_t *place = array_push(&s->v, &s->nr, &s->cap);

		if (!place)
			return -ENOMEM;
		*place = n;
	}
	qsort_r(s->v, s->nr, sizeof(*s->v), by_name, s);
	for (size_t i = 0; i < s->nr; i++) {
		*next = s->v[i];
		next = &p->nodes[s->v[i]].next_sibling;
	}
	*next = NODE_NONE;
	return 0;
}

/*
 * Nearly all nodes have one child, so sorting the children of each node by themselves is faster
 * than sorting all nodes, and needs no memory for it.
 */
static int link_children(struct profile *p)
{
	uint32_t *rank = profile_rank_names(p);
	struct siblings s = { .p = p, .rank = rank };
	int err = rank ? 0 : -ENOMEM;

	for (uint32_t i = (uint32_t)p->nr_nodes; i-- > 1;) {
		struct node *up = &p->nodes[p->nodes[i].parent];

		assert(p->nodes[i].parent < i);
		p->nodes[i].next_sibling = up->first_child;
		up->first_child = i;
	}
	for (uint32_t i = 0; i < p->nr_nodes && !err; i++) {
		uint32_t first = p->nodes[i].first_child;

		if (first != NODE_NONE && p->nodes[first].next_sibling != NODE_NONE)
			err = sort_children(p, i, &s);
	}
	free(rank);
	free(s.v);
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
