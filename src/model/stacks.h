/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames and stacks as dense ids.
 *
 * The problem. A trace holds millions of samples, each with dozens of frames, but only some
 * thousand different stacks. Most stacks begin alike: main() is called by the same caller each
 * time.
 *
 * The idea. Equal frames share an id. A stack is a node {parent, frame}: its innermost frame, and
 * the node of its caller's stack. So stacks that begin alike share nodes, and a sample holds one
 * number.
 *
 *	frames: 1 main, 2 read_all, 3 read		nodes: 1 {0, main}
 *	main -> read_all		is node 2	       2 {1, read_all}
 *	main -> read_all -> read	is node 3	       3 {2, read}
 *
 * A cache leads from a whole raw stack, by a 128-bit hash of it, straight to its node, because most
 * samples repeat one of a few thousand stacks.
 *
 * Limits. Frames and nodes are never removed. Two raw stacks with equal hashes would be taken for
 * one; with 128 bits that does not happen by chance. The cache has 65,536 slots and is emptied when
 * three quarters of them are used.
 *
 * Ids start at 1 and ascend by one; the caller writes a record for each that is new.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stacks;

struct stack_frame {
	uint64_t addr;
	uint32_t binary;		/* a number that differs between files */
	uint8_t kind, flags;
};

/* A hash of all that the meaning of a raw stack depends on. */
struct stack_hash {
	uint64_t a, b;
};

struct stacks *stacks_new(void);	/* NULL: out of memory */
void stacks_free(struct stacks *st);	/* NULL is fine */

/* The id, or 0 when out of memory. *is_new: this call made the id. */
uint32_t stacks_frame(struct stacks *st, const struct stack_frame *f, bool *is_new);
uint32_t stacks_node(struct stacks *st, uint32_t parent, uint32_t frame, bool *is_new);

const struct stack_frame *stacks_frame_at(const struct stacks *st, uint32_t id);
size_t stacks_frames(const struct stacks *st);
size_t stacks_nodes(const struct stacks *st);
size_t stacks_memory(const struct stacks *st);		/* bytes that it takes */

void stack_hash_init(struct stack_hash *h, uint64_t seed);
void stack_hash_add(struct stack_hash *h, const uint64_t *v, size_t nr);

/* The node of a stack that was remembered, or UINT32_MAX. A full cache forgets all stacks. */
uint32_t stacks_cached(const struct stacks *st, const struct stack_hash *h);
void stacks_remember(struct stacks *st, const struct stack_hash *h, uint32_t node);
