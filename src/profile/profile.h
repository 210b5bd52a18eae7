/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call tree, which is what a report draws. fold.c grows it; renderers only read it. Names are
 * resolved.
 *
 * Node 0 is the root ("all"). The children of a node are sorted by name, so equal input gives equal
 * output. Nodes with the same {name, kind, inlined, binary, source file} under the same parent are
 * one node.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"
#include "src/report/profile_facts.h"

#define NODE_NONE UINT32_MAX

enum {
	NODE_INLINED = 1,
	NODE_GUESSED = 2,
	NODE_SYNTHETIC = 4, /* not a function: thread name, cpu_01, [kthread] */
	/* Bits for its enum func_tier, each of which that the function had. */
	NODE_INTERPRETED = 8,
	NODE_BASELINE = 16,
	NODE_OPTIMIZED = 32,
	NODE_COMPILED = 64,
	NODE_BUILTIN = 128,
};

struct node {
	uint32_t parent;		/* NODE_NONE for the root */
	uint32_t first_child, next_sibling;	/* NODE_NONE: no more */
	uint32_t name;			/* profile_name() */
	/* profile_name(): path of the function's file, of generated code the script; 0 none */
	uint32_t binary;
	uint32_t file, line;		/* profile_name() of the source file, line; 0 unknown */
	uint16_t depth;			/* root 0 */
	uint8_t kind : 7;		/* enum frame_kind */
	uint8_t is_level : 1;		/* no function but a level of fold_roots.h */
	uint8_t flags;			/* NODE_... */
	uint64_t self, total;		/* weight; total is self plus all children */
	uint64_t self_samples, total_samples;
};

/* Whether it is a function that an interpreter runs, and that was never compiled. */
bool node_is_interpreted(const struct node *n);

/* "user", "kernel", "jit", "interpreted", "bpf", "synthetic". */
const char *node_kind_name(const struct node *n);

#define NODE_MAX_TIERS 5
/* The names of the node's tiers ("interpreted", "optimized", ...) to v; returns how many. */
size_t node_tiers(const struct node *n, const char *v[NODE_MAX_TIERS]);

/* A tree may have millions of nodes, and all work on it waits for memory. */
_Static_assert(sizeof(struct node) == 64, "one cache line each");

struct profile_delta;
struct stack_health;

struct profile {
	struct node *nodes;
	size_t nr_nodes, cap_nodes;
	struct intern *names;
	struct profile_facts facts;
	struct stack_health *health;	/* of the samples in it; NULL: not known */
	struct profile_delta *deltas;	/* of two recordings: profile_delta.h; NULL: it is of one */
	/* By node: how often it is in one stack at most, where recursion was folded; NULL: not. */
	uint32_t *levels;
};

/* NULL is fine. The strings of facts are in names. Frees health, deltas and levels, too. */
void profile_free(struct profile *p);

const char *profile_name(const struct profile *p, uint32_t name);

/*
 * Makes rank[name], the place of a name in the alphabet, so that sorting nodes compares numbers and
 * not long names that differ in their last byte. NULL: out of memory.
 */
uint32_t *profile_rank_names(const struct profile *p);
