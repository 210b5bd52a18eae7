/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To which node of a call tree each stack of a recording under way leads.
 *
 * The problem. Names come some time after the samples, so the path of a stack changes: what was
 * "main;[libc.so.6+0x1234]" is "main;read" a second later. A tree that is made anew each time, as
 * live_profile_read() does, has no node that stays.
 *
 * The idea. Nodes are only ever added, a parent before its children. When a frame gets a name, the
 * stacks that go through it lead to other nodes from then on, and those that they led to before
 * stay without a stack. So a reader that has the nodes of an earlier version needs those that were
 * added, and for each stack that changed the node that it leads to now.
 *
 *	live_stacks_init(&s, strings)			all zero before
 *	id = live_stacks_of(&s, count, folds_idle)	the stack of a count; IX_NONE: no memory
 *	live_stacks_settle(&s, tables, version)		the nodes of all stacks, as named now
 *	s.v[id].leaf, s.nodes[leaf], s.functions.v[s.nodes[leaf].function]
 *	live_stacks_release(&s)
 *
 * A version says when something changed last: what has a higher one than a reader's is news to it.
 * Errors are -ENOMEM, silently.
 *
 * Limits. A small trace can describe a huge tree, so there are at most LIVE_MAX_NODES nodes and
 * LIVE_MAX_STEPS frames that are looked at; what comes then leads to "[too many stacks]".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/render/page/page_functions.h"
#include "src/base/hash_index.h"
#include "src/profile/fold_stacks.h"
#include "src/profile/tree_builder.h"
#include "src/waits/idle.h"

#define LIVE_MAX_NODES 500000u
#define LIVE_MAX_STEPS (256u << 20)
#define LIVE_MAX_NAME_BYTES (64u << 20)

struct definition_store;
struct intern;
struct live_count;

struct live_stack {
	uint32_t kstack, ustack;	/* NODE records of the innermost frames */
	uint8_t end;			/* enum stack_end */
	bool folds_idle;		/* the thread slept: without work it is "[idle: ...]" */
	uint32_t leaf;			/* the node of its innermost function */
	uint64_t changed;		/* version in which it has got this leaf */
};

/* A node of the tree as it was told last; its parent is that of .tree. */
struct live_node {
	uint32_t function;		/* of .functions */
	uint32_t file, line;		/* of the tree's node: they and flags may change */
	uint8_t flags;
	uint64_t changed;
};

struct live_stacks {
	struct tree_builder tree;
	struct stack_folder folder;
	struct page_functions functions;
	struct live_stack *v;
	size_t nr, cap;
	struct hash_index index;
	size_t nr_settled;		/* stacks that have a leaf */
	struct live_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct idle_cache idle;
	uint64_t *named;		/* by frame: what its SYMBOL said; 0: not looked at yet */
	size_t cap_named;
};

int live_stacks_init(struct live_stacks *s, struct intern *strings);
void live_stacks_release(struct live_stacks *s);
uint32_t live_stacks_of(struct live_stacks *s, const struct live_count *c, bool folds_idle);
/* 1: something has changed; 0: nothing; -ENOMEM */
int live_stacks_settle(struct live_stacks *s, const struct definition_store *tables,
		       uint64_t version);
