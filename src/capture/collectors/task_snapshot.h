/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user side of a scan: has the task iterator's own file read to its end (task_reader.h). The
 * kernel waits for the reader, so no row is lost; a row is handed out while the next ones are still
 * being made. A reader that hangs in the memory of some process is given up, one that was killed is
 * replaced, and another one hands out what is missing.
 *
 *	task_snapshot_open(bpf, &opts, &ts)
 *	task_snapshot_scan(ts, fn, ctx, &receipt)	one scan of all tasks; the caller fills in
 *							receipt.scan and .interval_ns
 *	task_snapshot_again(ts, tid, fn, ctx)		visits one of its threads once more
 *	task_snapshot_close(ts)
 *
 * Threads that are on a CPU get their stacks through running_threads.h, so that each has its row.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"
#include "src/model/record.h"

struct child_forker;
struct task_snapshot;
struct capture_bpf;

struct task_snapshot_options {
	/*
	 * The tasks that the kernel has to visit (6.1+); the program filters in any case. Neither
	 * is set: all tasks.
	 */
	/* The threads of the processes that the filters let through, as long as these are few. */
	bool by_target;
	uint32_t only_tid;	/* only this thread */
	bool ask;		/* the knob is set: threads on a CPU are requested */
	/* Its rows are no part of the scans that are made by others meanwhile; with ask: never. */
	bool aside;
	struct child_forker *forker;	/* of its readers; borrowed */
	/* For the user and the trace: a process hangs the reader, or a memo was wrong. */
	void (*say)(void *ctx, const char *text);
	bool (*is_urgent)(void *ctx);	/* the user waits for the end; NULL: never */
	void *ctx;
};

struct task_snapshot_stats {		/* of all scans */
	uint64_t reads, faulted;	/* pages of stacks read; of these: faulted in */
	uint64_t busy, still_busy;	/* threads whose memory map was locked; to the end */
	uint64_t hung;			/* readers given up */
	uint64_t killed;		/* readers that died, and were replaced */
	uint64_t of_slowed;		/* threads of slowed users whose turn it was not */
};

int task_snapshot_open(struct capture_bpf *bpf, const struct task_snapshot_options *opts,
		       struct task_snapshot **tp);
void task_snapshot_close(struct task_snapshot *ts);	/* NULL is fine */

/*
 * 0; -EINTR: it is urgent, so the scan was cut short, and no other one can be made (the receipt
 * says what there is); or another -errno, which was reported.
 */
int task_snapshot_scan(struct task_snapshot *ts, wire_stack_fn fn, void *ctx,
		       struct rec_scan *receipt);
/* A revisit_fn, for after a scan. A thread that is on a CPU by then has its stack taken there. */
int task_snapshot_again(void *ts, uint32_t tid, wire_stack_fn fn, void *ctx);
/* The next scan takes every row anew, also of threads that have not run since the one before. */
void task_snapshot_anew(struct task_snapshot *ts);
uint64_t task_snapshot_bad_records(const struct task_snapshot *ts);
uint64_t task_snapshot_cpu_ns(const struct task_snapshot *ts);	/* processor time of the readers */
const struct task_snapshot_stats *task_snapshot_stats(const struct task_snapshot *ts);
