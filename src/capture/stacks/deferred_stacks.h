/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks whose walk ended in the kernel because the process, a mapping or a table was not known
 * there yet. They came with registers and memory, and wait here until enough is known to walk them
 * again; not longer than STACK_WAITS_NS (lifetimes.h). A walk over the tasks keeps little memory of
 * each: a stack that is longer is walked again by the kernel, when it knows more.
 *
 *	deferred_stacks_new(&deps, &l)
 *	deferred_stacks_add(l, stack, walk)		takes a copy
 *	deferred_stacks_try(l)			hands on what can be walked now, and what has waited
 *						too long
 *	deferred_stacks_again(l, walk, again, ctx)	has those of that walk visited again that
 *							are longer than what was kept
 *	deferred_stacks_await(l)		before processes are forgotten: keeps those it needs
 *	deferred_stacks_flush(l, walk)		hands on everything of that walk as it is
 *	deferred_stacks_free(l)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"

struct binaries;
struct binary_store;
struct deferred_stacks;
struct process_tracker;
struct unwind_loader;

struct deferred_stacks_deps {
	struct process_tracker *tracker;
	struct binary_store *store;
	struct binaries *binaries;
	struct unwind_loader *loader;
	uint32_t mode, max_frames;	/* as the kernel walks: UNWIND_..., frames */
	/* A stack that is as good as it gets; borrowed. 0, or an error that ends the recording. */
	int (*give)(void *ctx, const struct wire_stack *stack, uint32_t scan);
	void *ctx;
};

struct deferred_stacks_stats {
	uint64_t added, solved, gave_up, refused;	/* refused: too many waited */
};

int deferred_stacks_new(const struct deferred_stacks_deps *deps, struct deferred_stacks **lp);
void deferred_stacks_free(struct deferred_stacks *l);		/* NULL is fine */

/* Is it one for here? */
bool deferred_stacks_wants(const struct wire_stack *stack);
int deferred_stacks_add(struct deferred_stacks *l, const struct wire_stack *stack, uint32_t scan);
int deferred_stacks_try(struct deferred_stacks *l);

/* What the stacks that wait need of their processes outlives the next process_tracker_prune(). */
void deferred_stacks_await(const struct deferred_stacks *l);

/* 0 or an error that ends the recording. */
int deferred_stacks_again(struct deferred_stacks *l, uint32_t scan, revisit_fn again, void *ctx);

/* Of one walk; 0: all. */
int deferred_stacks_flush(struct deferred_stacks *l, uint32_t scan);
bool deferred_stacks_waiting(const struct deferred_stacks *l, uint32_t scan);
size_t deferred_stacks_bytes(const struct deferred_stacks *l);	/* that those take which wait */
void deferred_stacks_stats(const struct deferred_stacks *l, struct deferred_stacks_stats *out);
