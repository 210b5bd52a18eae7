/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Grows a call tree node by node.
 *
 *	tree_builder_init(&b)
 *	child = tree_builder_child(&b, parent, &key)	found or made; the root is 0
 *	tree_builder_add(&b, child, weight, samples)	adds to the node's self
 *	p = tree_builder_take(&b)			sums totals, sorts children; free it by
 *							profile_free()
 *	tree_builder_release(&b)
 *
 * Depth and number of nodes are limited, because a small hostile trace can describe a huge tree.
 * Beyond the limits a node "[deeper]" or "[too many stacks]" stands for all the rest, so no weight
 * is lost. Names beyond their limit are "[too many names]". Running out of memory is remembered and
 * reported by tree_builder_take(), because a tree that lacks a single node can be wrong.
 *
 * The sum of all weights stays below 2^64: what would exceed it is not added. So no sum in the tree
 * overflows, and each total is the sum of its parts, whatever weights a trace has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/profile/profile.h"

#define TREE_MAX_DEPTH 4096
#define TREE_MAX_NODES (8u << 20)

struct intern;

struct tree_builder {
	struct profile *p;
	struct hash_index index;
	uint32_t max_depth;		/* at most UINT16_MAX */
	uint32_t max_nodes;
	uint64_t max_name_bytes;	/* of all names together; 0: any number */
	uint64_t name_bytes;
	uint32_t deeper, too_many, unnamed;	/* ids of their names */
	bool by_line;			/* children of different lines are different */
	bool is_full;			/* some node stands for a rest: there were too many */
	uint64_t weight;		/* sum of all weights that were added */
	bool failed;
};

int tree_builder_init(struct tree_builder *b);		/* 0 or -ENOMEM */
/*
 * Begins a tree whose names are there already. They are the builder's if this succeeds. 0 or
 * -ENOMEM.
 */
int tree_builder_init_names(struct tree_builder *b, struct intern *names);
void tree_builder_release(struct tree_builder *b);

/* Interns a name for keys; IX_NONE, and failed is set, when out of memory. */
uint32_t tree_builder_name(struct tree_builder *b, const char *s, size_t len);

/*
 * The child of parent with key's name, kind, binary, inlined flag and source file, made if it is
 * new; an unknown file is like any other. Other flags are merged into it, and so are lines (the
 * lowest one that is known). The
 * child of a node that stands for the rest is that node itself.
 */
uint32_t tree_builder_child(struct tree_builder *b, uint32_t parent, const struct node *key);

/* The child of parent that stands for all stacks there are too many of. */
uint32_t tree_builder_rest(struct tree_builder *b, uint32_t parent);
/* Whether a node stands for the rest, so that it is its own child. */
bool tree_builder_is_rest(const struct tree_builder *b, uint32_t node);

void tree_builder_add(struct tree_builder *b, uint32_t node, uint64_t weight, uint64_t samples);

/* NULL: out of memory, now or before. */
struct profile *tree_builder_take(struct tree_builder *b);
