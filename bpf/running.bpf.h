/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are on a CPU when a snapshot meets them. Their registers are not in memory, so the
 * stack is taken on that CPU, from the thread itself: the iterator wishes for the thread, and
 * whichever comes first fulfils the wish: user space has on_running run on that CPU
 * (BPF_PROG_TEST_RUN: an interrupt between processors), or the thread leaves the CPU
 * (sched_switch). So the stack belongs to the very stint on the CPU in which the thread was met,
 * and a CPU that it has left need not be disturbed.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/stack.bpf.h"

/*
 * The thread wished for on a CPU, by its number in the initial namespace; 0: none. A cache line
 * each: every context switch looks at its own.
 */
struct oncpu_request {
	uint64_t tid;
	uint64_t pad[ONCPU_REQUEST_BYTES / 8 - 1];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* CPUs; set by user space */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, uint32_t);
	__type(value, struct oncpu_request);
} oncpu_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct gather);
} running_scratch SEC(".maps");

static __always_inline uint64_t switches(struct task_struct *task)
{
	return READ_NOW(task->nvcsw) + READ_NOW(task->nivcsw);
}

/* The exchange is a full barrier: from here on the thread's switch-out sees the wish. */
static __always_inline bool request_oncpu(struct task_struct *task, uint32_t cpu)
{
	struct oncpu_request *w = knobs.ask ? bpf_map_lookup_elem(&oncpu_requests, &cpu) : 0;

	if (!w)
		return false;
	__sync_lock_test_and_set(&w->tid, (uint64_t)(uint32_t)task->pid);
	return true;
}

static __always_inline bool still_there(struct task_struct *task, uint64_t nr_switches,
					uint32_t cpu)
{
	return READ_NOW(task->on_cpu) && switches(task) == nr_switches &&
	       READ_NOW(task->thread_info.cpu) == cpu;
}

/* It left before it could see the wish. false: it has been fulfilled after all. */
static __always_inline bool cancel_request(struct task_struct *task, uint32_t cpu)
{
	struct oncpu_request *w = bpf_map_lookup_elem(&oncpu_requests, &cpu);
	uint64_t tid = (uint32_t)task->pid;

	return w && __sync_val_compare_and_swap(&w->tid, tid, 0) == tid;
}

static __always_inline void gather_current(void *ctx, struct gather *g, struct task_struct *task)
{
	struct env e = { .g = g };

	init_head(&g->head, task, ids_of(task), bpf_ktime_get_ns(), control.event);
	g->head.weight = 0;
	g->head.cpu = bpf_get_smp_processor_id();
	g->head.flags |= WIRE_ON_CPU | WIRE_ON_ITS_CPU;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) {
		g->head.end = UNWIND_KTHREAD;
		g->head.flags |= WIRE_KTHREAD;
	} else if (!task->mm || task->flags & PF_EXITING) {
		g->head.end = UNWIND_NO_MM;
	} else if (knobs.want_user && in_exec(task)) {
		g->head.end = UNWIND_EXEC;
	} else if (knobs.want_user && !load_user_regs(&g->unwinder, task)) {
		gather_user(g, &e, step_nofault);
	}
	if (knobs.want_kernel)
		gather_kernel_here(ctx, g);
}

/*
 * Runs with interrupts off, so the running thread stays. ask: nobody else than the wished one will
 * come any more.
 */
static __always_inline int serve_request(void *ctx, bool ask)
{
	uint32_t zero = 0, cpu = bpf_get_smp_processor_id(), bytes;
	struct oncpu_request *w = bpf_map_lookup_elem(&oncpu_requests, &cpu);
	struct task_struct *task;
	struct gather *g;

	if (!w || !READ_NOW(w->tid))
		return 0;
	task = bpf_get_current_task_btf();
	if (READ_NOW(w->tid) != (uint64_t)(uint32_t)task->pid) {
		if (ask)
			READ_NOW(w->tid) = 0;
		return 0;
	}
	g = bpf_map_lookup_elem(&running_scratch, &zero);
	if (!g)
		return 0;
	gather_current(ctx, g, task);
	bytes = gather_bytes(g);
	if (bytes)
		bpf_ringbuf_output(&oncpu_ring, &g->head, bytes, BPF_RB_NO_WAKEUP);
	READ_NOW(w->tid) = 0;
	return 0;
}

/*
 * Both in one, since the kernel checks a program for some 15 ms before it takes it: the switch
 * names the thread that leaves (the second argument), who asks does not.
 */
SEC("?raw_tp/sched_switch")
int on_running(struct bpf_raw_tracepoint_args *ctx)
{
	return serve_request(ctx, !ctx->args[1]);
}
