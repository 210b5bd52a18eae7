/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads whose stack a scan could not take: they were on a CPU, or their memory map was locked.
 *
 * The problem. bpf/running.bpf.h tells how the stack of a thread on a CPU is taken: on that CPU,
 * when the thread leaves it or user space has the CPU interrupted. But a thread may leave before it
 * sees the request, and run on another CPU by then. And whatever happens, each thread is to have
 * exactly one row.
 *
 * The idea. Rows without a stack are set aside during the scan. Then they are settled in rounds:
 *
 *	round 0		each CPU on which a thread is still requested is interrupted, and the
 *			stacks that came through the ring find their rows by the tid
 *	round 1 ...	a thread without a stack is visited again by its tid. If it sleeps by now,
 *			the iterator takes its stack; if not, it has been requested on the CPU it
 *			is on now, and that CPU is interrupted
 *	at the end	a row that still has no stack is handed out as it was set aside
 *
 * For threads on a CPU there are 5 rounds at most, for locked memory maps 20, with pauses that add
 * up to 60 ms. An example:
 *
 *	scan		4711 is on CPU 1, and leaves before it can see the request	set aside
 *	round 0		nothing is requested on CPU 1
 *	round 1		4711 is visited: it is on CPU 3 and requested there
 *			CPU 3 is interrupted						its stack
 *
 * A thread that has run while its stack was read off the CPU is requested wherever it leaves one
 * (bpf/running.bpf.h), so mostly its stack has come through the ring by round 0 or while another
 * thread is visited.
 *
 * Limits. Before 6.1 the kernel cannot visit a single thread, so there is only round 0.
 *
 *	running_threads_open(bpf, &rt)
 *	running_threads_begin(rt)		before a scan
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

/*
 * Hands fn exactly one row for each thread: with its stack, or as it was set aside. again visits a
 * thread by its tid. 0, or the error of fn or again.
 */
int running_threads_settle(struct running_threads *rt, revisit_fn again, void *again_ctx,
			   wire_stack_fn fn, void *ctx);

struct running_stats {			/* of the last scan */
	uint64_t met, caught, again, uncaught;
	uint64_t busy, still_busy;	/* their memory map was locked; it stayed locked */
	uint64_t gone;			/* of those without a stack: they have ended */
};
void running_threads_stats(const struct running_threads *rt, struct running_stats *out);
