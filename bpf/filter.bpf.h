/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a task is recorded, by the filters of struct knobs. */
#pragma once

#include "bpf/task_ids.bpf.h"

/* The view of `top`, its keeper, the recorder, the keeper of helpers, the helpers. */
#define HELPER_DEPTH 4

/*
 * A process that probee has forked for its own work. Such a process never execs, and neither does
 * its parent if that is another one of them; the command that probee runs does. The leader of a
 * process tells, because every other thread is marked as one that has not exec'ed. The first of
 * ours is knobs.self_tgid: the recorder, or the process that it was forked from.
 */
static __always_inline bool is_own_helper(struct task_struct *task)
{
	for (int i = 0; i < HELPER_DEPTH; i++) {
		task = task->group_leader;
		if (!(task->flags & PF_FORKNOEXEC))
			return false;
		task = task->real_parent;
		if (tgid_of(task) == knobs.self_tgid)
			return true;
	}
	return false;
}

static __always_inline bool task_wanted(struct task_struct *task, struct task_ids ids)
{
	if (knobs.only_targets && !bpf_map_lookup_elem(&targets, &ids.tgid))
		return false;
	if (knobs.only_tids && !bpf_map_lookup_elem(&tids, &ids.tid))
		return false;
	/* Last, because it reads other tasks, which are in no cache. */
	return ids.tgid != knobs.self_tgid && !is_own_helper(task);
}
