/*
 * Stacks whose walk ended in the kernel because the process, a mapping or a table was not known there yet. They came
 * with registers and memory, and wait here until enough is known to walk them again; not longer than LATE_MAX_NS. A walk
 * over the tasks keeps little memory of each: a stack that is longer is walked again by the kernel, when it knows more.
 *
 *	late_stacks_new(&deps, &l)
 *	late_stacks_add(l, stack, walk)		takes a copy
 *	late_stacks_try(l)			hands on what can be walked now, and what has waited too long
 *	late_stacks_again(l, walk, again, ctx)	has those of that walk visited again that are longer than what was kept
 *	late_stacks_flush(l, walk)		hands on everything of that walk as it is
 *	late_stacks_free(l)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/clock.h"
#include "src/capture/stacks/wire_decode.h"

#define LATE_MAX_NS (12 * NSEC_PER_SEC)	/* below REORDER_NS in session_meta.c */

struct binaries;
struct binary_store;
struct late_stacks;
struct process_tracker;
struct unwind_loader;

struct late_stacks_deps {
	struct process_tracker *tracker;
	struct binary_store *store;
	struct binaries *binaries;
	struct unwind_loader *loader;
	uint32_t mode, max_frames;	/* as the kernel walks: WALK_..., frames */
	/* A stack that is as good as it gets; borrowed. 0, or an error that ends the recording. */
	int (*give)(void *ctx, const struct wire_stack *stack, uint32_t walk);
	void *ctx;
};

struct late_stacks_stats {
	uint64_t added, solved, gave_up, refused;	/* refused: too many waited */
};

int late_stacks_new(const struct late_stacks_deps *deps, struct late_stacks **lp);
void late_stacks_free(struct late_stacks *l);		/* NULL is fine */

/* Is it one for here? */
bool late_stacks_wants(const struct wire_stack *stack);
int late_stacks_add(struct late_stacks *l, const struct wire_stack *stack, uint32_t walk);
int late_stacks_try(struct late_stacks *l);

/* 0 or an error that ends the recording. */
int late_stacks_again(struct late_stacks *l, uint32_t walk, revisit_fn again, void *ctx);

/* Of one walk; 0: all. */
int late_stacks_flush(struct late_stacks *l, uint32_t walk);
bool late_stacks_waiting(const struct late_stacks *l, uint32_t walk);
size_t late_stacks_bytes(const struct late_stacks *l);	/* that those take which wait */
void late_stacks_stats(const struct late_stacks *l, struct late_stacks_stats *out);
