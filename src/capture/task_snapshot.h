/*
 * The snapshot's user side: reads the task iterator's own file until it is through. The kernel waits for the reader,
 * so no row is lost; a row is handed out while the next ones are still being made.
 *
 *	task_snapshot_open(bpf, &opts, &ts)
 *	task_snapshot_walk(ts, fn, ctx, &receipt)	one walk over all tasks; receipt.walk is the caller's
 *	task_snapshot_close(ts)
 *
 * Threads that are on a CPU are asked there (running_threads.h), so that each has its row.
 */
#pragma once

#include <stdint.h>

#include "src/capture/wire_decode.h"
#include "src/model/record.h"

typedef int (*snapshot_row_fn)(void *ctx, const struct wire_stack *stack);

struct task_snapshot;
struct capture_bpf;

struct task_snapshot_options {
	uint32_t only_pid;	/* let the kernel visit only this process's threads (6.1+); 0: all */
	uint32_t only_tid;
	bool ask;		/* the knob is set: threads on a CPU are asked there */
};

int task_snapshot_open(struct capture_bpf *bpf, const struct task_snapshot_options *opts, struct task_snapshot **tp);
void task_snapshot_close(struct task_snapshot *ts);	/* NULL is fine */

int task_snapshot_walk(struct task_snapshot *ts, snapshot_row_fn fn, void *ctx, struct rec_walk *receipt);
uint64_t task_snapshot_bad_records(const struct task_snapshot *ts);
