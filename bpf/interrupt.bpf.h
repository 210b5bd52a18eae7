/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a tracepoint was passed by the thread that runs, or by an interrupt. */
#pragma once

#include "bpf/stack.bpf.h"
#include "bpf/wait.bpf.h"

#define THREAD_STACK_BYTES 16384	/* THREAD_SIZE of both architectures */

/*
 * Whether the thread was interrupted in its program. x86-64 handles such an interrupt on the stack
 * of the thread. The registers that it saved then have -1 as the number of the system call
 * (orig_ax). Page faults have that number, too, but their handlers wake no other thread.
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
