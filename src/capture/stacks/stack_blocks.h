/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of stack memory (WIRE_BLOCK bytes) that wait with their stacks. A block that many stacks
 * have in common is kept once, with a count of who refers to it. Blocks lie in chunks; a chunk
 * without blocks is given back, but for the first two.
 *
 *	stack_blocks_new(max, &p)
 *	stack_blocks_put(p, bytes)	copies a block: its id, with one reference; 0: no room
 *	stack_blocks_share(p, id)	one reference more
 *	stack_blocks_at(p, id)		its bytes, until the last reference is dropped
 *	stack_blocks_drop(p, id)	one reference less
 *	stack_blocks_free(p)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

struct stack_blocks;

/* max: bytes of all chunks together. 0 or -ENOMEM. */
int stack_blocks_new(size_t max, struct stack_blocks **pp);
void stack_blocks_free(struct stack_blocks *p);		/* NULL is fine */

uint32_t stack_blocks_put(struct stack_blocks *p, const void *bytes);
void stack_blocks_share(struct stack_blocks *p, uint32_t id);
void stack_blocks_drop(struct stack_blocks *p, uint32_t id);
const uint8_t *stack_blocks_at(const struct stack_blocks *p, uint32_t id);

size_t stack_blocks_used(const struct stack_blocks *p);		/* bytes of blocks that are kept */
size_t stack_blocks_bytes(const struct stack_blocks *p);	/* of memory taken for them */
