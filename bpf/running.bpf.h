/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of threads that are on a CPU when a scan meets them, or run while it looks.
 *
 * The problem. The registers of a running thread are not in memory, so the iterator, which runs on
 * another CPU, cannot unwind its stack.
 *
 * The idea. The stack is taken on that CPU, from the thread itself. The iterator requests the
 * thread: it writes its tid into the entry of that CPU in oncpu_requests. The request is served
 * when the thread leaves the CPU (sched_switch), or when user space has on_running run on that CPU
 * after the scan (BPF_PROG_TEST_RUN, an interrupt between processors;
 * src/capture/collectors/running_threads.h), whichever comes first.
 *
 * So the stack belongs to the very stint on the CPU in which the thread was met, and a CPU that the
 * thread has left need not be interrupted:
 *
 *	CPU 0: the iterator			CPU 1
 *	meets thread 4711 on CPU 1		4711 runs
 *	requests[1] = 4711
 *	4711 is still there			4711 leaves: on_running takes its stack,
 *						requests[1] = 0
 *	user space finds requests[1] empty
 *
 * After the request the iterator looks at the thread once more. If the thread has left in between,
 * it may not have seen the request: then the iterator cancels it, and the row says UNWIND_TORN.
 *
 * Threads that run for a moment many times a millisecond (sched_yield(), a turn that is passed on)
 * are met off a CPU and have run again before their stacks are read. Such a thread is requested
 * wherever it is: its tid goes into switch_requests, and it is served when it next leaves any CPU.
 * By then the iterator is some tasks further on, and nothing waits.
 *
 * A stack that ends early comes with the registers and the memory of its thread, as a sample does
 * (stack_dump.bpf.h): of a program that is new or huge the table is not there yet.
 *
 * Limits. A thread that leaves no CPU meanwhile, or whose entry of switch_requests another thread
 * has got, has no stack yet. User space has it visited again by its tid, and it may be on another
 * CPU then.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/stack_dump.bpf.h"

/*
 * The thread requested on a CPU, by its number in the initial namespace; 0: none. Each entry has a
 * cache line of its own, because every context switch reads that of its CPU.
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

/* How often the thread has left a CPU. */
static __always_inline uint64_t switches(struct task_struct *task)
{
	return READ_NOW(task->nvcsw) + READ_NOW(task->nivcsw);
}

/*
 * The exchange is a full barrier: if the thread leaves from here on, its switch sees the request.
 */
static __always_inline bool request_oncpu(struct task_struct *task, uint32_t cpu)
{
	bool ask = knobs.ask && !READ_NOW(control.aside);
	struct oncpu_request *w = ask ? bpf_map_lookup_elem(&oncpu_requests, &cpu) : 0;

	if (!w)
		return false;
	__sync_lock_test_and_set(&w->tid, (uint64_t)(uint32_t)task->pid);
	return true;
}

struct switch_requests switch_requests __attribute__((aligned(64))) = {};

static __always_inline uint32_t *switch_request_of(struct task_struct *task)
{
	return &switch_requests.tids[(uint32_t)task->pid & (SWITCH_REQUESTS - 1)];
}

/* Without a barrier: a switch that does not see it yet is followed by others. */
static __always_inline void request_at_switch(struct task_struct *task)
{
	if (!knobs.ask || READ_NOW(control.aside))
		return;
	READ_NOW(*switch_request_of(task)) = task->pid;
	READ_NOW(switch_requests.any) = 1;
}

static __always_inline bool still_there(struct task_struct *task, uint64_t nr_switches,
					uint32_t cpu)
{
	return READ_NOW(task->on_cpu) && switches(task) == nr_switches &&
	       READ_NOW(task->thread_info.cpu) == cpu;
}

/*
 * For a thread that may have left before it could see the request. false: it has been served after
 * all.
 */
static __always_inline bool cancel_request(struct task_struct *task, uint32_t cpu)
{
	struct oncpu_request *w = bpf_map_lookup_elem(&oncpu_requests, &cpu);
	uint64_t tid = (uint32_t)task->pid;

	return w && __sync_val_compare_and_swap(&w->tid, tid, 0) == tid;
}

static __always_inline void gather_current(void *ctx, struct env *e, struct task_struct *task)
{
	struct gather *g = e->g;

	init_head(&g->head, task, ids_of(task), bpf_ktime_get_ns(), control.event);
	g->head.weight = 0;
	g->head.cpu = bpf_get_smp_processor_id();
	g->head.flags |= WIRE_ON_CPU | WIRE_ON_ITS_CPU;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) {
		g->head.end = UNWIND_KTHREAD;
		g->head.flags |= WIRE_KTHREAD;
	} else if (!BPF_CORE_READ(task, mm) || task->flags & PF_EXITING) {
		g->head.end = UNWIND_NO_MM;
	} else if (knobs.want_user && in_exec(task)) {
		g->head.end = UNWIND_EXEC;
	} else if (knobs.want_user && !load_user_regs(&g->unwinder, task)) {
		gather_user(g, e, step_nofault);
	}
	if (knobs.want_kernel)
		gather_kernel_here(ctx, g);
}

/*
 * Hands out the stack of this CPU's thread, with its memory if user space is to unwind it again and
 * there is room for that in the ring.
 */
static __always_inline void submit_running(struct gather *g, struct env *e)
{
	uint32_t slot = knobs.running_slot + shared_slot(bpf_get_smp_processor_id()), bytes = 0;
	struct stack_dump *dump = is_deferred(g) ? bpf_map_lookup_elem(&dump_scratch, &slot) : 0;

	if (dump && CLAIM(&dump->busy)) {
		bool done;

		g->head.flags |= WIRE_DUMP;
		bytes = gather_dump(g, e, dump, WIRE_DUMP_PAGES, copy_page_nofault);
		done = bytes && bytes <= STACK_DUMP_BYTES &&
		       !bpf_ringbuf_output(&oncpu_ring, &dump->w, bytes, BPF_RB_NO_WAKEUP);
		LEAVE(&dump->busy);
		if (done)
			return;
		g->head.flags &= ~WIRE_DUMP;
	}
	bytes = gather_bytes(g);
	if (bytes)
		bpf_ringbuf_output(&oncpu_ring, &g->head, bytes, BPF_RB_NO_WAKEUP);
}

/* Whether it is this thread that is requested on this CPU. Another one that has left is dropped. */
static __always_inline bool is_requested_here(struct oncpu_request *w, uint32_t tid, bool ask)
{
	if (READ_NOW(w->tid) == tid)
		return true;
	if (ask)
		READ_NOW(w->tid) = 0;
	return false;
}

static __always_inline bool is_requested_at_switch(struct task_struct *task)
{
	return READ_NOW(switch_requests.any) &&
	       READ_NOW(*switch_request_of(task)) == (uint32_t)task->pid;
}

/* Runs with interrupts off, so the current thread stays. ask: user space has this CPU asked. */
static __always_inline int serve_request(void *ctx, bool ask)
{
	uint32_t zero = 0, cpu = bpf_get_smp_processor_id();
	struct oncpu_request *w = bpf_map_lookup_elem(&oncpu_requests, &cpu);
	struct task_struct *task;
	struct env e = { 0 };
	bool here, at_switch;

	if (!w || (!READ_NOW(w->tid) && !READ_NOW(switch_requests.any)))
		return 0;
	task = bpf_get_current_task_btf();
	here = is_requested_here(w, task->pid, ask);
	at_switch = is_requested_at_switch(task);
	if (!here && !at_switch)
		return 0;
	e.g = bpf_map_lookup_elem(&running_scratch, &zero);
	if (!e.g)
		return 0;
	gather_current(ctx, &e, task);
	submit_running(e.g, &e);
	if (here)
		READ_NOW(w->tid) = 0;
	if (at_switch)
		READ_NOW(*switch_request_of(task)) = 0;
	return 0;
}

/*
 * One program serves both, because the verifier takes some 15 ms for each. A switch passes the
 * thread that leaves as its second argument; user space passes 0.
 */
SEC("?raw_tp/sched_switch")
int on_running(struct bpf_raw_tracepoint_args *ctx)
{
	return WITH_SCANS ? serve_request(ctx, !ctx->args[1]) : 0;
}
