/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tid and tgid of a task in probee's PID namespace. These are the numbers in /proc and in perf
 * events there, and those that the user writes and reads.
 *
 * task->pid is the number in the initial namespace. If probee runs in that one, nothing else is
 * looked at: knobs.in_pid_ns is a constant, so the verifier removes the code for the other case. In
 * any other namespace struct pid is read. It has one number for each namespace from the initial one
 * down to the task's own, by level:
 *
 *	level		0 (initial)	1 (probee's)	2 (a container in there)
 *	number		4711		17		1
 *
 * A task is outside if the number at probee's level belongs to another namespace, or if there is no
 * such level. Its number is 0 then. It is also 0 once the task has ended and its parent has waited
 * for it, because that takes its numbers away.
 */
#pragma once

#include "bpf/maps.bpf.h"

#define BY_TGID 1	/* PIDTYPE_TGID */

struct own_pid_ns own_pid_ns = {};

static __always_inline struct upid *number_at(struct pid *pid, uint32_t level)
{
	return (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       level * bpf_core_type_size(struct upid);
}

/*
 * at: of a struct pid. A function of its own for the verifier, which would else go through all that
 * follows once for each way out of it.
 */
__noinline uint32_t number_here(uint64_t at)
{
	struct pid *pid = (struct pid *)at;
	uint32_t level = own_pid_ns.level;
	struct upid *number = number_at(pid, level);

	if (!pid || BPF_CORE_READ(pid, level) < level ||
	    (uint64_t)BPF_CORE_READ(number, ns) != own_pid_ns.address)
		return 0;
	return BPF_CORE_READ(number, nr);
}

static __always_inline uint32_t tid_of(struct task_struct *task)
{
	return knobs.in_pid_ns ? number_here((uint64_t)BPF_CORE_READ(task, thread_pid))
			       : BPF_CORE_READ(task, pid);
}

static __always_inline uint32_t tgid_of(struct task_struct *task)
{
	return knobs.in_pid_ns ? number_here((uint64_t)BPF_CORE_READ(task, signal, pids[BY_TGID]))
			       : BPF_CORE_READ(task, tgid);
}

struct task_ids {
	uint32_t tgid, tid;
};

/*
 * For a task pointer that the verifier trusts: in the initial namespace the fields are read without
 * a helper call.
 */
static __always_inline struct task_ids ids_of(struct task_struct *task)
{
	if (knobs.in_pid_ns)
		return (struct task_ids){ tgid_of(task), tid_of(task) };
	return (struct task_ids){ task->tgid, task->pid };
}

/* task->pid is 0 for the idle tasks only, which are in no namespace. */
static __always_inline bool is_outside(struct task_struct *task, struct task_ids ids)
{
	return knobs.in_pid_ns && task->pid && !(ids.tid && ids.tgid);
}

/* User space runs this once (BPF_PROG_TEST_RUN), so the current task is probee. */
SEC("?raw_tp")
int on_self(void *ctx)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(self, thread_pid);
	uint32_t level = BPF_CORE_READ(pid, level);
	struct upid *number = number_at(pid, level);

	own_pid_ns.level = level;
	own_pid_ns.address = (uint64_t)BPF_CORE_READ(number, ns);
	return 0;
}
