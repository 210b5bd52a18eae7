/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that has not run since the last walk has not moved: it is not walked again. How often it
 * has left a CPU is kept; the same number, and not on a CPU, mean the same stack: who ran in
 * between has left the CPU once more. User space remembers the row.
 *
 * An array by tid and not storage of the task: the walk comes by in the order of the tids, so the
 * next ones are in the cache already, where the storage costs four lines that are not (0.2 us of
 * 0.9). Two threads that fall on one entry drive each other out and are walked each time.
 */
#pragma once

#include "bpf/running.bpf.h"

struct last_scan {
	uint64_t start_boottime;	/* with the tid: which thread */
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
 * In this order: a thread that leaves its CPU counts that first and is off it then. Asked for the
 * number first, one that leaves in between would look like one that never ran.
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
 * Only after the row was written, and only one that will be the same: complete and of a thread that
 * was not running.
 */
static __always_inline void remember(struct task_struct *task, const struct gather *g,
				     const struct env *e)
{
	struct last_scan *last;
	uint8_t end = g->head.end;

	if (g->head.flags & WIRE_ON_CPU || e->on_lock || end == UNWIND_TORN || end == UNWIND_BUSY ||
	    end == UNWIND_NO_PROCESS || end == UNWIND_NO_MAPPING || end == UNWIND_NO_TABLE ||
	    end == UNWIND_EXEC)
		return;
	last = last_scan_of(task);
	if (last) {
		last->switches = e->switches;
		last->start_boottime = task->start_boottime;
		last->tid = task->pid;
	}
}

/* The head alone, of a thread that has not run. */
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
