/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a tracepoint was passed by the thread that runs, or by an interrupt. */
#pragma once

#include "bpf/stack.bpf.h"
#include "bpf/wait.bpf.h"

#define THREAD_STACK_BYTES 16384	/* THREAD_SIZE of both architectures */

/*
 * Whether the thread was interrupted in its program. x86-64 handles such an interrupt on the stack
 * of the thread. The registers that it saved then have -1 as the number of the system call
 * (orig_ax). So they have in a page fault, which is_interrupt() tells from an interrupt.
 */
static __always_inline bool interrupted_program(struct task_struct *task)
{
#ifdef __TARGET_ARCH_x86
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	uint64_t orig_ax = 0;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return false;
	bpf_probe_read_kernel(&orig_ax, sizeof(orig_ax), (uint64_t *)regs + REG_ORIG_AX);
	return orig_ax == (uint64_t)-1;
#else
	return false;
#endif
}

/*
 * Whether the program's context is outside of the thread's own stack. The kernel calls a
 * tracepoint's program with a context on the stack that is in use, and interrupts use another one
 * than threads. A thread that sends a packet uses it as well, while it serves soft interrupts at
 * the end of its call; user space tells these cases apart by the frames (interrupted.h).
 *
 * The kernel's own count of interrupts (preempt.h) cannot be read where the list of symbols has no
 * data (CONFIG_KALLSYMS_ALL). The verifier allows no calculation with a context, so the address
 * goes through memory.
 */
static __always_inline bool on_interrupt_stack(void *ctx, const struct task_struct *task)
{
	void *volatile kept = ctx;
	uint64_t at = 0;

	bpf_probe_read_kernel(&at, sizeof(at), (void *)&kept);
	return at - (uint64_t)task->stack >= THREAD_STACK_BYTES;
}

static __always_inline bool is_inside(const struct kernel_range *r, uint64_t frame)
{
	return frame > r->start && frame <= r->end;
}

/*
 * Whether a thread that was interrupted in its program does its own work: in a page fault, whose
 * end gives away the lock of the memory, or on its way back to the program, where it may die by a
 * signal. The outermost frames of its kernel stack tell, the only ones that g has. A stack that is
 * not whole is taken for that of an interrupt.
 */
static __always_inline bool is_its_own(const struct gather *g, const struct kernel_entries *k)
{
	uint32_t n = g->head.nr_kernel;

	if (n < 2 || n >= WIRE_MAX_KERNEL)
		return false;
	return !is_inside(&k->interrupts, g->frames[n - 1]) ||
	       is_inside(&k->exits[0], g->frames[n - 2]) ||
	       is_inside(&k->exits[1], g->frames[n - 2]);
}

/*
 * Whether an interrupt is at work. g, which has no frames yet, may then have its kernel stack
 * without the innermost frames that skip counts. Otherwise g has none.
 */
static __always_inline bool is_interrupt(void *ctx, struct gather *g, struct task_struct *task,
					 const struct kernel_entries *k, uint32_t skip)
{
	if (!task->pid || !interrupted_program(task))
		return !task->pid;
	if (!k->interrupts.end)
		return true;
	gather_kernel_behind(ctx, g, skip);
	if (!is_its_own(g, k))
		return true;
	g->head.nr_kernel = 0;
	return false;
}
