/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that have not run since the last scan. Such a thread has not moved, so its stack is not
 * unwound again.
 *
 * The problem. Most threads of a machine sleep through many scans, and unwinding them gives the
 * same stack each time.
 *
 * The idea. The kernel counts how often a thread has left a CPU (switches()). The number of the
 * last scan is kept. If it is the same now and the thread is not on a CPU, then the thread has not
 * run in between: otherwise it would have left the CPU once more. Its row is a head with WIRE_SAME
 * and without frames; user space remembers the stack.
 *
 *	scan	thread 4711				its row
 *	1	asleep, has left a CPU 93 times		unwound; 93 is kept
 *	2	asleep, 93				WIRE_SAME
 *		runs for a moment
 *	3	asleep, 94				unwound; 94 is kept
 *
 * Where the number is kept: in an array by tid and not in task storage. The iterator visits the
 * tasks in the order of their tids, so the next entries are in the cache already, while task
 * storage takes four cache lines that are not (0.2 us of 0.9).
 *
 * Limits. Two threads that fall on one entry drive each other out and are unwound each time. Rows
 * that may come out otherwise although the thread sleeps on are not kept: remember().
 */
#pragma once

#include "bpf/running.bpf.h"

struct last_scan {
	uint64_t start_boottime;	/* identifies the thread, with the tid */
	uint64_t switches;
	uint32_t tid, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);		/* knobs.last_scans, a power of two */
	__type(key, uint32_t);
	__type(value, struct last_scan);
} last_scans SEC(".maps");

static __always_inline struct last_scan *last_scan_of(struct task_struct *task)
{
	uint32_t i = task->pid & (knobs.last_scans - 1);

	return bpf_map_lookup_elem(&last_scans, &i);
}

/*
 * on_cpu is read before the count. A thread that leaves its CPU counts that first and is off the
 * CPU then. In the other order a thread that leaves between the two reads would look like one that
 * has not run.
 */
static __always_inline bool has_not_run(struct task_struct *task)
{
	struct last_scan *last = last_scan_of(task);

	if (READ_NOW(task->on_cpu))
		return false;
	reads_before();
	return last && last->tid == (uint32_t)task->pid && last->switches == switches(task) &&
	       last->start_boottime == task->start_boottime;
}

/*
 * Called when the row has been written. Keeps the number only if the row would be the same again:
 * it is complete, its thread was not running, and no holder is named in it that may change
 * (on_lock).
 */
static __always_inline void remember(struct task_struct *task, const struct gather *g,
				     const struct env *e)
{
	struct last_scan *last;
	uint8_t end = g->head.end;

	if (g->head.flags & (WIRE_ON_CPU | WIRE_LEAF | WIRE_WANTS_CODE) || e->on_lock ||
	    end == UNWIND_TORN || end == UNWIND_BUSY || is_early(end) || end == UNWIND_EXEC)
		return;
	last = last_scan_of(task);
	if (last) {
		last->switches = e->switches;
		last->start_boottime = task->start_boottime;
		last->tid = task->pid;
	}
}

/* The row of a thread that has not run: the head alone. */
static __always_inline void gather_same(struct gather *g, struct task_struct *task,
					struct task_ids ids, uint64_t begin_ns)
{
	init_head(&g->head, task, ids, begin_ns, control.event);
	g->head.weight = 0;
	g->head.cpu = UINT32_MAX;
	g->head.flags = WIRE_SAME;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		g->head.flags |= WIRE_KTHREAD;
}
