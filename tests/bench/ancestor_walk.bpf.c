/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The method to compare with: a scan of all tasks that follows frame pointers with two 8-byte reads
 * of another task's memory per frame, 127 frames at most. It writes into fixed-size reservations of
 * an 8 MiB ring that is drained after the scan. The interrupted instruction itself is not recorded.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "ancestor_walk.h"

char LICENSE[] SEC("license") = "GPL";

#define CORE __attribute__((preserve_access_index))


struct task_struct {
	int pid, tgid;
	unsigned int flags, __state;
	char comm[16];
} CORE;

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
} CORE;

struct pt_regs___x86 {
	unsigned long bp, sp;
} CORE;

const volatile int want_tgid;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 * 1024 * 1024);
} events SEC(".maps");

unsigned long visited, dropped;

static int scan(struct task_struct *task, struct ancestor_event *ev)
{
	struct pt_regs___x86 *regs = (void *)bpf_task_pt_regs(task);
	unsigned long fp = BPF_CORE_READ(regs, bp), sp = BPF_CORE_READ(regs, sp), next, ret;
	int n;

	for (n = 0; n < ANCESTOR_FRAMES; n++) {
		if (fp < sp || fp > sp + (1 << 20))
			break;
		if (bpf_copy_from_user_task(&next, sizeof(next), (void *)fp, task, 0) ||
		    bpf_copy_from_user_task(&ret, sizeof(ret), (void *)(fp + 8), task, 0))
			break;
		ev->user[n] = ret;
		if (next <= fp)
			return n + 1;
		fp = next;
	}
	return n;
}

SEC("iter.s/task")
int dump(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct ancestor_event *ev;

	if (!task || (want_tgid && task->tgid != want_tgid))
		return 0;
	visited++;
	ev = bpf_ringbuf_reserve(&events, sizeof(*ev), 0);
	if (!ev) {
		dropped++;
		return 0;
	}
	ev->pid = task->pid;
	ev->tgid = task->tgid;
	ev->state = task->__state;
	bpf_probe_read_kernel_str(ev->comm, sizeof(ev->comm), task->comm);
	ev->kernel_bytes = bpf_get_task_stack(task, ev->kernel, sizeof(ev->kernel), 0);
	ev->nr_user = task->flags & ANCESTOR_KTHREAD ? 0 : scan(task, ev);
	bpf_ringbuf_submit(ev, 0);
	return 0;
}
