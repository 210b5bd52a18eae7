/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that the kernel side could not unwind yet, kept until user space can.
 *
 * The problem: the BPF programs unwind by mappings and tables that user space gives them. A program
 * that has just started, or a library that was mapped a moment ago, takes its first samples before
 * its mappings are published and its unwind table is built. Such a stack ends early
 * (UNWIND_NO_PROCESS, UNWIND_NO_MAPPING, UNWIND_NO_TABLE), after one frame or in the middle.
 *
 * The cure: the kernel side adds the thread's registers and the top of its stack memory to such a
 * stack (struct wire_dump, or struct wire_delta with what has changed of it). Both are kept here,
 * and the stack is unwound again in user space, as of the time at which it was taken
 * (deferred_unwind.h), as soon as all that it needs is known.
 *
 * Example: a process maps libfoo.so and is sampled in it 2 ms later. The stack ends with
 * UNWIND_NO_TABLE, and its table is put in front of the queue of the workers. 30 ms later the table
 * is there; the next deferred_stacks_try() unwinds the stack to main() and gives it on, as if the
 * kernel side had done so. Other stacks that met the same library wait for the same table.
 *
 * Stacks that met generated code of which nothing is known (WIRE_WANTS_CODE) are kept likewise:
 * they wait until its window is there (code_windows.h), and go on as they can then be unwound.
 *
 * Stacks of scans: a sample comes with up to 256 KiB of stack memory (WIRE_DELTA_PAGES), a row of a
 * scan with 20 KiB at most, because a scan meets thousands of threads at once, and that of a thread
 * that runs with 64 KiB, because only few threads do (bpf/running.bpf.h). A stack that is
 * longer is *cut*: with all tables there, it ends where the memory ends. By then the kernel side
 * knows the tables, too, so it visits the thread again and unwinds the stack where it is
 * (deferred_stacks_again()). Each visit may end at the next missing table, so there are up to 8.
 *
 * Limits: a stack waits for STACK_WAITS_NS at most (lifetimes.h), and then goes on as far as it was
 * unwound. All that wait take 48 MiB at most, with blocks of memory that samples have in common
 * counted once (stack_mirrors.h). A stack for which there is no room goes on at once, as it came. A
 * stack that ends in a file for which no table can be built does not wait either.
 *
 *	deferred_stacks_new(&deps, &l)
 *	deferred_stacks_add(l, stack, scan)	takes a copy
 *	deferred_stacks_try(l)			gives on the stacks that can be unwound now, and
 *						those that have waited too long
 *	deferred_stacks_again(l, scan, again, ctx)	has the threads of that scan visited again
 *							whose stacks are cut
 *	deferred_stacks_await(l)		before processes are forgotten: keeps those needed
 *	deferred_stacks_flush(l, scan)		gives on all stacks of that scan as far as they are
 *	deferred_stacks_free(l)			drops those that still wait
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/stacks/code_windows.h"
#include "src/capture/stacks/wire_decode.h"

struct child_forker;
struct binaries;
struct binary_store;
struct deferred_stacks;
struct process_tracker;
struct parsers;
struct unwind_loader;
struct user_costs;
struct worker_pool;

struct deferred_stacks_deps {
	struct process_tracker *tracker;
	struct binary_store *store;
	struct binaries *binaries;
	struct unwind_loader *loader;
	/* Where generated code is read, in one thread; pool NULL: none is. */
	struct worker_pool *pool;
	struct parsers *parsers;
	struct child_forker *forker;	/* of who reads memory */
	struct user_costs *costs;	/* NULL: costs are not measured */
	uint32_t mode, max_frames;	/* as the kernel side unwinds: UNWIND_..., frames */
	/* Gets each stack, borrowed for the call. 0, or an error that ends the recording. */
	int (*give)(void *ctx, const struct wire_stack *stack, uint32_t scan);
	void *ctx;
};

struct deferred_stacks_stats {
	uint64_t added, solved, gave_up, refused;	/* refused: too many were waiting */
	size_t peak_bytes;
	struct code_windows_stats code;
};

int deferred_stacks_new(const struct deferred_stacks_deps *deps, struct deferred_stacks **lp);
void deferred_stacks_free(struct deferred_stacks *l);		/* NULL is fine */

/* The table of a window of generated code was thrown out. */
void deferred_stacks_evicted(struct deferred_stacks *l, uint32_t table);

/*
 * true: the stack ended early, or met unknown generated code, and its registers and memory came
 * with it.
 */
bool deferred_stacks_wants(const struct wire_stack *stack);
int deferred_stacks_add(struct deferred_stacks *l, const struct wire_stack *stack, uint32_t scan);
int deferred_stacks_try(struct deferred_stacks *l);

/* The next process_tracker_prune() keeps the processes of the stacks that wait. */
void deferred_stacks_await(const struct deferred_stacks *l);

/* 0 or an error that ends the recording. */
int deferred_stacks_again(struct deferred_stacks *l, uint32_t scan, revisit_fn again, void *ctx);

/* scan: the number of one scan; 0: all stacks. */
int deferred_stacks_flush(struct deferred_stacks *l, uint32_t scan);
bool deferred_stacks_waiting(const struct deferred_stacks *l, uint32_t scan);
size_t deferred_stacks_bytes(const struct deferred_stacks *l);	/* memory of those that wait */
void deferred_stacks_stats(const struct deferred_stacks *l, struct deferred_stacks_stats *out);
