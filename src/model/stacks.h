/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames and stacks as dense ids: equal frames share an id, a stack is the node {its caller's node,
 * frame}, and stacks with a common beginning share nodes. A cache leads from a whole raw stack, by
 * a 128-bit hash of it, straight to its node: most samples repeat one of a few thousand stacks.
 *
 * Ids start at 1 and ascend by one, so "new" is what makes the caller write a record.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stacks;

struct stack_frame {
	uint64_t addr;
	uint32_t binary;		/* any number that tells files apart */
	uint8_t kind, flags;
};

struct stack_hash {			/* of everything a raw stack's meaning depends on */
	uint64_t a, b;
};

struct stacks *stacks_new(void);	/* NULL: out of memory */
void stacks_free(struct stacks *st);	/* NULL is fine */

/* Id, or 0 when out of memory. *is_new: this call made it. */
uint32_t stacks_frame(struct stacks *st, const struct stack_frame *f, bool *is_new);
uint32_t stacks_node(struct stacks *st, uint32_t parent, uint32_t frame, bool *is_new);

const struct stack_frame *stacks_frame_at(const struct stacks *st, uint32_t id);
size_t stacks_frames(const struct stacks *st);
size_t stacks_nodes(const struct stacks *st);

void stack_hash_init(struct stack_hash *h, uint64_t seed);
void stack_hash_add(struct stack_hash *h, const uint64_t *v, size_t nr);

/* Node of a stack seen before, or UINT32_MAX. The cache forgets everything when it is full. */
uint32_t stacks_cached(const struct stacks *st, const struct stack_hash *h);
void stacks_remember(struct stacks *st, const struct stack_hash *h, uint32_t node);
