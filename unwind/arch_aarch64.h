/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the unwinder must know of arm64: struct user_pt_regs as an array of 64-bit words, DWARF
 * register numbers (AADWARF64: 0-30 are x0-x30, 31 is sp), the signal frame (struct rt_sigframe:
 * siginfo 128 bytes, then ucontext), and pointer authentication, whose code sits in the upper bits
 * of a saved link register.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ARCH_NR_REGS 34		/* x0-x30, sp, pc, pstate */
#define ARCH_ELF_MACHINE 183	/* EM_AARCH64 */
/* pthread_self() is below the thread pointer, by the size of what libc keeps of a thread. */
#define ARCH_SELF_IS_THREAD_POINTER 0
#define ARCH_REG_FP 29
#define ARCH_REG_SP 31
#define ARCH_REG_PC 32
#define ARCH_REG_PSTATE 33

/* DWARF number -> word of struct user_pt_regs. */
static const volatile uint8_t arch_dwarf_to_reg[32] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

/* DWARF number -> word of ucontext.uc_mcontext.regs: fault_address comes first. */
static const volatile uint8_t arch_dwarf_to_signal[32] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

#define ARCH_DWARF_REGS_MASK 31
/*
 * siginfo 128, then uc_flags 8, uc_link 8, uc_stack 24, uc_sigmask 128 (with reserve), aligned to
 * 16: 176.
 */
#define ARCH_SIGNAL_CONTEXT (128 + 176)
#define ARCH_UCONTEXT_FLAGS 0
#define ARCH_UCONTEXT_ANY 0
/* A frame record does not tell where its frame ends. */
#define ARCH_FP_TELLS_CFA 0
#define ARCH_FP_CHAIN_MEETS_SIGNALS 0
#define ARCH_SIGNAL_FP 30
#define ARCH_SIGNAL_SP 32
#define ARCH_SIGNAL_PC 33

#define ARCH_RA_CFA_OFF (-8)	/* frame record {x29, x30} below the CFA; else RA_CFA_OFF */

/*
 * On arm64 code is not read: the caller of a leaf is in the link register, and only unwind
 * information tells whether it still is there.
 */
#define ARCH_KNOWS_CALLS 0
enum arch_call { ARCH_CALL_NONE, ARCH_CALL_INDIRECT, ARCH_CALL_DIRECT };
#define ARCH_FRAME_UNKNOWN (-1)
#define ARCH_FRAME_BY_FP (-2)

static inline enum arch_call arch_call_before(uint64_t code, uint64_t ra, uint64_t *target)
{
	(void)code;
	(void)ra;
	(void)target;
	return ARCH_CALL_NONE;
}

static inline int arch_return_slot(const uint64_t bytes[2], bool sp_holds_fp)
{
	(void)bytes;
	(void)sp_holds_fp;
	return -1;
}

static inline bool arch_has_frame(const uint64_t bytes[2])
{
	(void)bytes;
	return false;
}

static inline uint64_t arch_prologue_mask(uint64_t code, uint64_t next)
{
	(void)code;
	(void)next;
	return 0;
}

static inline int64_t arch_prologue_at(const uint64_t code[3], int i, int64_t behind)
{
	(void)code;
	(void)i;
	(void)behind;
	return ARCH_FRAME_UNKNOWN;
}

static inline int64_t arch_way_out(const uint64_t bytes[2], uint64_t *pops_fp)
{
	(void)bytes;
	(void)pops_fp;
	return ARCH_FRAME_UNKNOWN;
}

static inline bool arch_is_new_task(const uint64_t *regs)
{
	(void)regs;
	return false;
}

/* User addresses have at most 52 bits (LVA); everything above is authentication code or a tag. */
static inline uint64_t arch_strip(uint64_t ra)
{
	return ra & ((1ull << 52) - 1);
}
