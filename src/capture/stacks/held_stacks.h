/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples that wait: for the kernel's symbols, and for what a runtime says of its code.
 *
 * The problem. To read all symbols of the kernel takes 35 ms of CPU time, and the first frame of
 * the kernel that is written into a trace needs them. A recording that reads them before it begins
 * is late by as much; one that stands still over them at the first such frame lets the tables of a
 * program wait that has just begun.
 *
 * The idea. A thread reads the symbols, and until it is done, samples with a frame of the kernel
 * are copied to this list; all others go on at once. Then what was held is given on, in order.
 *
 * A runtime that writes a jitdump says when it has put code to an address. Samples of its code wait
 * until the dump was read up to their time, so that each has the name of the code that was there.
 *
 * Limits. Registers, memory, and what a row of a scan says beyond its frames are not kept
 * (held_stacks_can()). All that wait take 4 MiB at most.
 *
 *	struct held_stacks h = { 0 };
 *	held_stacks_can(stack)
 *	held_stacks_add(&h, stack)	0; -ENOBUFS: there is no room
 *	held_stacks_give(&h, fn, ctx)	in the order in which they came; h is empty then
 *	held_stacks_give_some(&h, ready, fn, ctx)	those that are ready, in that order
 *	held_stacks_release(&h)		drops what still waits
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/capture/stacks/wire_decode.h"

struct held_stack;

struct held_stacks {
	struct held_stack *first, **last;
	size_t bytes;
};

/* true: the stack is a sample that is no more than its frames. */
bool held_stacks_can(const struct wire_stack *stack);
int held_stacks_add(struct held_stacks *h, const struct wire_stack *stack);
int held_stacks_give(struct held_stacks *h, wire_stack_fn fn, void *ctx);
int held_stacks_give_some(struct held_stacks *h,
			  bool (*is_ready)(void *ctx, const struct wire_stack *stack),
			  wire_stack_fn fn, void *ctx);
void held_stacks_release(struct held_stacks *h);
