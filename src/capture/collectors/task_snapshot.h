/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The snapshot's user side: has the task iterator's own file read until it is through
 * (task_reader.h). The kernel waits for the reader, so no row is lost; a row is handed out while
 * the next ones are still being made. A reader that hangs in the memory of some process is given
 * up, and another one hands out what is missing.
 *
 *	task_snapshot_open(bpf, &opts, &ts)
 *	task_snapshot_scan(ts, fn, ctx, &receipt)	one walk over all tasks; receipt.walk is the
 *							caller's
 *	task_snapshot_again(ts, tid, fn, ctx)	and one of its threads once more
 *	task_snapshot_close(ts)
 *
 * Threads that are on a CPU are asked there (running_threads.h), so that each has its row.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"

struct task_snapshot;
struct capture_bpf;

struct task_snapshot_options {
	/*
	 * What the kernel need visit (6.1+; the program's own filter is there anyway). Neither: all
	 * tasks.
	 */
	bool by_target;		/* the threads of the processes that the filters let through, while
				   these are few */
	uint32_t only_tid;	/* this one thread */
	bool ask;		/* the knob is set: threads on a CPU are asked there */
	void (*say)(void *ctx, const char *text);	/* for people and for the trace: a process
							   hangs the reader */
	void *ctx;
};

struct task_snapshot_stats {		/* of all walks */
	uint64_t reads, faulted;	/* pages of stacks read, and those that had to be brought in
					   for that */
	uint64_t busy, still_busy;	/* threads whose memory map was locked; of those: to the
					   end */
	uint64_t hung;			/* readers given up */
};

int task_snapshot_open(struct capture_bpf *bpf, const struct task_snapshot_options *opts,
		       struct task_snapshot **tp);
void task_snapshot_close(struct task_snapshot *ts);	/* NULL is fine */

int task_snapshot_scan(struct task_snapshot *ts, wire_stack_fn fn, void *ctx,
		       struct rec_scan *receipt);
/* a revisit_fn */
int task_snapshot_again(void *ts, uint32_t tid, wire_stack_fn fn, void *ctx);
uint64_t task_snapshot_bad_records(const struct task_snapshot *ts);
uint64_t task_snapshot_cpu_ns(const struct task_snapshot *ts);	/* processor time of the readers */
const struct task_snapshot_stats *task_snapshot_stats(const struct task_snapshot *ts);
