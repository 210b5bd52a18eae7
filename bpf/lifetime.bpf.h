/*
 * Processes come and go faster than user space can look. What must not wait is done here: a fork inherits its
 * parent's mappings and is a target when its parent is one; an exec drops the mappings at once, so that no
 * stale one ever unwinds with another file's rules; an exit forgets the process.
 */
#pragma once

#include "bpf/maps.bpf.h"

SEC("?tp_btf/sched_process_fork")
int on_fork(uint64_t *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	uint32_t from = parent->tgid, to = child->tgid, one = 1;
	uint64_t *slice, v;

	if (from == to)
		return 0;	/* a thread */
	if (knobs.only_targets && bpf_map_lookup_elem(&targets, &from))
		bpf_map_update_elem(&targets, &to, &one, BPF_ANY);
	slice = bpf_map_lookup_elem(&processes, &from);
	if (slice) {
		v = *(volatile uint64_t *)slice;
		bpf_map_update_elem(&processes, &to, &v, BPF_NOEXIST);
	}
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int on_exec(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t tgid = task->tgid;

	bpf_map_delete_elem(&processes, &tgid);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int on_exit(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t tgid = task->tgid;

	if (task->signal->live.counter > 0)
		return 0;	/* other threads live on */
	bpf_map_delete_elem(&processes, &tgid);
	bpf_map_delete_elem(&targets, &tgid);
	return 0;
}
