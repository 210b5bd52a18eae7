/*
 * What the walker must know of x86-64: where the kernel keeps a thread's user registers (struct pt_regs as an
 * array of 64-bit words), how DWARF numbers them (System V ABI x86-64, figure 3.36), and where a signal
 * frame keeps them (struct ucontext of the kernel's uapi). Included by the BPF side and the host.
 */
#pragma once

#include <stdint.h>

#define ARCH_NR_REGS 21		/* words in struct pt_regs */
#define ARCH_REG_FP 4		/* rbp */
#define ARCH_REG_PC 16		/* rip */
#define ARCH_REG_CS 17
#define ARCH_REG_SP 19		/* rsp */

#define ARCH_CS_COMPAT 0x23	/* 32-bit code segment */

/* DWARF number -> word of struct pt_regs. */
static const volatile uint8_t arch_dwarf_to_reg[16] = {
	10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0,
};

/* DWARF number -> word of ucontext.uc_mcontext. */
static const volatile uint8_t arch_dwarf_to_signal[16] = {
	13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7,
};

#define ARCH_DWARF_REGS_MASK 15
#define ARCH_SIGNAL_CONTEXT 40	/* uc_mcontext from the stack pointer at the trampoline */
#define ARCH_SIGNAL_FP 10	/* words of uc_mcontext */
#define ARCH_SIGNAL_SP 15
#define ARCH_SIGNAL_PC 16

#define ARCH_RA_CFA_OFF (-8)	/* RA_CFA: the return address is always pushed by the call */

/* Bits that are no part of a code address in a saved return address. */
static inline uint64_t arch_strip(uint64_t ra)
{
	return ra;
}
