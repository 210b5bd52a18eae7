/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads that a walk over the tasks met on a CPU: their stacks are taken there
 * (bpf/running.bpf.h). A row that the walk could not fill is set aside; after the walk each CPU on
 * which somebody was met is asked, and who could not be caught that way, because it has left
 * meanwhile, is walked again by its number, some rounds long. So is a thread whose memory map was
 * locked.
 *
 *	running_threads_open(bpf, &rt)
 *	running_threads_begin(rt)		before a walk
 *	running_threads_add(rt, stack) ...	a row that has no stack yet; copied
 *	running_threads_settle(rt, ...)		hands out one row for each of them
 *	running_threads_close(rt)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"

struct running_threads;
struct capture_bpf;

int running_threads_open(struct capture_bpf *bpf, struct running_threads **rp);
void running_threads_close(struct running_threads *rt);		/* NULL is fine */

void running_threads_begin(struct running_threads *rt);
int running_threads_add(struct running_threads *rt, const struct wire_stack *stack);

/* Exactly one row each to fn: the stack, or the row as it was set aside. 0, or fn's error. */
int running_threads_settle(struct running_threads *rt, revisit_fn again, void *again_ctx,
			   wire_stack_fn fn, void *ctx);

struct running_stats {			/* of the last walk */
	uint64_t met, caught, again, uncaught;
	uint64_t busy, still_busy;	/* memory map was locked; and stayed so */
	uint64_t gone;			/* of those not caught: have ended */
};
void running_threads_stats(const struct running_threads *rt, struct running_stats *out);
