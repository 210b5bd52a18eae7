/*
 * A thread that has not run since the last walk has not moved: it is not walked again. Its run time and its switch counts
 * are kept with the task; equal ones, and not on a CPU, mean the same stack. User space remembers the row.
 */
#pragma once

#include "bpf/running.bpf.h"

struct last_walk {
	uint64_t runtime, switches;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct last_walk);
} last_walks SEC(".maps");

static __always_inline bool has_not_run(struct task_struct *task)
{
	struct last_walk *last = bpf_task_storage_get(&last_walks, task, 0, 0);

	return last && last->switches == switches(task) && last->runtime == READ_NOW(task->se.sum_exec_runtime) &&
	       !READ_NOW(task->on_cpu);
}

/* Only after the row was written, and only one that will be the same: complete and of a thread that was not running. */
static __always_inline void remember(struct task_struct *task, const struct gather *g, const struct env *e)
{
	struct last_walk *last;
	uint8_t end = g->head.end;

	if (g->head.flags & WIRE_ON_CPU || e->on_lock || end == WALK_TORN || end == WALK_BUSY || end == WALK_NO_PROCESS ||
	    end == WALK_NO_MAPPING || end == WALK_NO_TABLE || end == WALK_EXEC)
		return;
	last = bpf_task_storage_get(&last_walks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (last) {
		last->switches = e->switches;
		last->runtime = e->runtime;
	}
}

/* The head alone, of a thread that has not run. */
static __always_inline void gather_same(struct gather *g, struct task_struct *task, uint64_t begin_ns)
{
	init_head(&g->head, task, begin_ns);
	g->head.weight = 0;
	g->head.cpu = UINT32_MAX;
	g->head.flags = WIRE_SAME;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		g->head.flags |= WIRE_KTHREAD;
}
