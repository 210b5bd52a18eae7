/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User space's side of the mirrors of stack memory (struct wire_delta of bpf/wire.h), and the
 * memory of stacks that wait.
 *
 *	stack_mirrors_new(max, &m)
 *	stack_mirrors_apply(m, stack)		each delta, in the order of the ring: its changes
 *						go into the mirror; sets stack->blocks
 *	stack_mirrors_keep(m, stack, ids)	keeps the memory of a stack that waits
 *	stack_mirrors_blocks(m, ids, nr, out)	that memory, as struct wire_stack has it
 *	stack_mirrors_drop(m, ids, nr)		it waits no more
 *	stack_mirrors_free(m)
 *
 * A block that has not changed since an earlier stack of the same CPU was kept is kept once for
 * both.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stack_mirrors;
struct wire_stack;

/* max: bytes of kept blocks. 0 or -ENOMEM. */
int stack_mirrors_new(size_t max, struct stack_mirrors **mp);
void stack_mirrors_free(struct stack_mirrors *m);	/* NULL is fine */

/*
 * 0; -EBADMSG: the delta builds on one that was lost, and is of no use; -ENOMEM. The memory that
 * stack->blocks lead to is valid until the next delta is applied.
 */
int stack_mirrors_apply(struct stack_mirrors *m, struct wire_stack *stack);

/*
 * Fills ids with one for each block of the stack's memory (there are at most WIRE_BLOCKS; 0: the
 * block is absent): of a dump, or of the delta that was applied last. Their number; -ENOMEM: there
 * is no room.
 */
int stack_mirrors_keep(struct stack_mirrors *m, const struct wire_stack *stack, uint32_t *ids);
void stack_mirrors_blocks(const struct stack_mirrors *m, const uint32_t *ids, size_t nr,
			  const uint8_t **out);
void stack_mirrors_drop(struct stack_mirrors *m, const uint32_t *ids, size_t nr);

/* The mirrors' own references are dropped: called when no stack waits. */
void stack_mirrors_forget(struct stack_mirrors *m);

size_t stack_mirrors_used(const struct stack_mirrors *m);	/* bytes of blocks that are kept */
