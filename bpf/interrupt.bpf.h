/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a tracepoint was passed by the thread that runs, or by an interrupt. */
#pragma once

#include "bpf/stack.bpf.h"
#include "bpf/wait.bpf.h"

#define THREAD_STACK_BYTES 16384	/* THREAD_SIZE of both architectures */

/*
 * x86-64 handles an interrupt of a program on the stack of its thread. What was saved then says
 * that it is no system call (orig_ax), which holds of page faults, too; these wake nobody.
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
 * Interrupts have a stack of their own, and the context of a tracepoint's program is on the stack
 * of whoever passes it. A thread that sends a packet gets there, too, when it serves soft
 * interrupts on its way back; user space tells them apart by the frames. The count of preempt.h
 * would tell, but cannot be read on kernels whose list of symbols has no data
 * (CONFIG_KALLSYMS_ALL). The address goes through memory, because the verifier allows no
 * calculation with a context.
 */
static __always_inline bool on_interrupt_stack(void *ctx, const struct task_struct *task)
{
	void *volatile kept = ctx;
	uint64_t at = 0;

	bpf_probe_read_kernel(&at, sizeof(at), (void *)&kept);
	return at - (uint64_t)task->stack >= THREAD_STACK_BYTES;
}
