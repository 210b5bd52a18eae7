/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes come and go faster than user space can look. Three things cannot wait for it and are
 * done here: a forked process inherits its parent's mappings, and is a target if its parent is one;
 * an exec drops the mappings at once, so that no stale one ever unwinds with another file's rules;
 * an exit forgets the process.
 */
#pragma once

#include "bpf/task_ids.bpf.h"

/* What memos keep of a process does not hold any more: unwind/unwind_memo.h. */
static __always_inline void change_version(uint32_t tgid)
{
	uint32_t entry = unwind_version_of(tgid);
	uint64_t *version = bpf_map_lookup_elem(&pages, &entry);

	if (version)
		__sync_fetch_and_add(version, 1);
}

SEC("?tp_btf/sched_process_fork")
int on_fork(uint64_t *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	uint32_t from, to, one = 1;
	struct unwind_process *p, v = {};
	struct unwind_runtimes *rt;

	if (parent->tgid == child->tgid)
		return 0;	/* a thread */
	from = ids_of(parent).tgid;
	to = ids_of(child).tgid;
	if (knobs.only_targets && bpf_map_lookup_elem(&targets, &from))
		bpf_map_update_elem(&targets, &to, &one, BPF_ANY);
	rt = bpf_map_lookup_elem(&runtimes, &from);
	if (rt)
		bpf_map_update_elem(&runtimes, &to, rt, BPF_ANY);
	p = bpf_map_lookup_elem(&processes, &from);
	if (p) {
		v.slice = *(volatile uint64_t *)&p->slice;
		bpf_map_update_elem(&processes, &to, &v, BPF_NOEXIST);
	}
	return 0;
}

/*
 * Runs after the new program has been mapped. User space was told of the exec and of those mappings
 * before that, and may have published them already. A slice is the new program's, and is kept, if
 * it belongs to an exec later than the last one seen here.
 */
SEC("?tp_btf/sched_process_exec")
int on_exec(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t tgid = ids_of(task).tgid;
	struct unwind_process *p = bpf_map_lookup_elem(&processes, &tgid);
	uint64_t *last = bpf_map_lookup_elem(&last_exec, &tgid), now = bpf_ktime_get_ns();

	if (!tgid)
		return 0;	/* outside of our PID namespace */
	if (p && p->exec_ns <= (last ? *last : 0)) {
		bpf_map_delete_elem(&processes, &tgid);
		bpf_map_delete_elem(&runtimes, &tgid);
	}
	bpf_map_update_elem(&last_exec, &tgid, &now, BPF_ANY);
	change_version(tgid);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int on_exit(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t tgid = ids_of(task).tgid;

	if (BPF_CORE_READ(task, signal, live.counter) > 0)
		return 0;	/* other threads live on */
	bpf_map_delete_elem(&processes, &tgid);
	bpf_map_delete_elem(&runtimes, &tgid);
	bpf_map_delete_elem(&last_exec, &tgid);
	bpf_map_delete_elem(&targets, &tgid);
	return 0;
}
