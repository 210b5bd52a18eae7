/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables as the kernel side reads them. CONTRACT between user space and BPF: fixed-width
 * integers, explicit layout, static-asserted.
 *
 * A binary's text is cut into 64 KiB pages of its virtual addresses, counted from the binary's
 * lowest one (vaddr_lo). A page has its rows, sorted by the low 16 bits of the address, and the
 * rule in force at its start, so a lookup never leaves its page. A row holds from its address to
 * the next row's. Rules are shared by all binaries of a recording: some 5,000 distinct ones cover a
 * whole distribution.
 *
 *	Example: vaddr 0x12345 of a binary with vaddr_lo 0 is in page 1. The row of that page with
 *	the largest pc_lo that is not above 0x2345 counts or, if there is none, the page's carry.
 *	Its rule { .cfa = CFA_SP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16 } says: CFA = sp +
 *	16, return address at CFA - 8, the caller's frame pointer at CFA - 16.
 *
 * The pages of a large file are built when a stack asks for them. Until then a page is absent
 * (UNWIND_PAGE_ABSENT), and stacks that meet it are unwound later.
 *
 * A CFA that counts from a register other than sp and fp is known only in a frame that was
 * interrupted. To know it further out, every rule of every function would have to say where it
 * saved which register, and each step would read one more word. Instead the calls in such a
 * function have rows of their own (CFA_CALLEE_SAVED, cfi_callsite.h), if the code of the callee
 * tells what happens to the register. Otherwise unwinding ends with UNWIND_BAD_RULE.
 */
#pragma once

#include <stdint.h>

#define UNWIND_PAGE_SHIFT 16

struct unwind_row {
	uint16_t pc_lo;			/* low bits of (vaddr - vaddr_lo) */
	uint16_t rule;			/* index of the rule dictionary */
};

/* Read and written as one word of 64 bits, because pages are added while programs read them. */
struct unwind_page {
	_Alignas(8) uint32_t first;	/* index of its first row in the slabs */
	uint16_t nr;
	uint16_t carry;			/* rule in force before the first row */
};

/* The number of pages of a binary whose code ends at end. */
static inline uint64_t unwind_nr_pages(uint64_t vaddr_lo, uint64_t end)
{
	return (end - vaddr_lo + (1u << UNWIND_PAGE_SHIFT) - 1) >> UNWIND_PAGE_SHIFT;
}

/* A value of first: the rows of the page are not known yet. */
#define UNWIND_PAGE_ABSENT UINT32_MAX

/* How the canonical frame address (CFA: stack pointer before the call) is found. */
enum unwind_cfa {
	CFA_NONE = 0,			/* no unwind information here */
	CFA_UNSUPPORTED,		/* there is some, but not of a kind below */
	CFA_SP,				/* sp + cfa_off */
	CFA_FP,				/* fp + cfa_off */
	CFA_REG,			/* DWARF register reg + cfa_off: leaf frame only */
	CFA_DEREF_SP,			/* *(sp + cfa_off) + aux */
	/*
	 * *(fp + cfa_off) + aux. With cfa_off 0 and aux 16 a caller's is fp + 16: the frame pointer
	 * was pushed for the callee, which pops it before it returns (SBCL's call into Lisp).
	 */
	CFA_DEREF_FP,
	CFA_DEREF_REG,			/* *(reg + cfa_off) + aux: leaf frame only */
	CFA_PLT,			/* sp + 8 + ((pc & 15) >= aux ? 8 : 0): x86-64 PLT stub */
	CFA_SIGNAL,			/* trampoline: registers are in the ucontext at sp */
	CFA_ROOT,			/* outermost frame: the return address is undefined */
	CFA_OTHER_STACK,		/* fp + cfa_off, on another stack: it may lie below sp */
	/*
	 * Register reg as it was at the call + cfa_off, which is above sp. The callee pushed it at
	 * sp + aux; while that is below the interrupted sp, the value is still in the register.
	 * RA_CFA only.
	 */
	CFA_CALLEE_SAVED,
	/* *(fp + cfa_off) + aux where the unwind information is wrong: cfi_eh_return.h. */
	CFA_EH_RETURN,
	/*
	 * The stack of a thread ends here, and that of the goroutine that it works for begins:
	 * unwind_goroutine.h. cfa_off: where the thread keeps its g, from the thread pointer; aux:
	 * m.curg; fp_off: g.sched.bp. RA_REG: the return address is g.sched.pc; RA_CFA: it is where
	 * g.sched.sp points. reg 1: there often is no such goroutine.
	 */
	CFA_GOROUTINE,
};

/* How the caller's frame pointer is found. */
enum unwind_fp {
	FP_SAME = 0,			/* not changed */
	FP_CFA,				/* *(cfa + fp_off) */
	FP_UNDEFINED,			/* lost */
	FP_DEREF_FP,			/* *(fp + fp_off) */
};

/* How the return address is found. */
enum unwind_ra {
	RA_CFA = 0,			/* x86-64: *(cfa - 8) */
	RA_CFA_OFF,			/* *(cfa + aux); not with CFA_DEREF_* and CFA_PLT */
	RA_REG,				/* in reg (arm64's lr); leaf frame only; not with CFA_REG */
};

/*
 * In ra: the rule comes from reading code, not from unwind information. Frames found through it are
 * guessed.
 */
#define RULE_GUESSED 0x80
/*
 * In windows of generated code, with RULE_GUESSED and CFA_SP: the CFA is cfa_off above sp or up to
 * aux words further out, at the first return address there.
 */
/*
 * In ra: the address that is found is that of the next instruction to run (an exception handler),
 * not one after a call. The caller's rule is looked up at this address, not one byte before it.
 */
#define RULE_EXACT 0x40
/* In ra: in this function the thread has left its goroutine for another: unwind_goroutine.h. */
#define RULE_NEXT_GOROUTINE 0x20
/*
 * In ra of CFA_SIGNAL and CFA_ROOT: that is the rule of a return address. The byte itself is a
 * ret, and where it was interrupted, CFA = sp + cfa_off: entered.h.
 */
#define RULE_ENTERED 0x10
/*
 * In ra: this is the loop of an interpreter, which stands for frames of its own: frame_program.h.
 * With CFA_NONE or RULE_GUESSED: code that a runtime has made, which its program is asked about
 * before a step.
 */
#define RULE_RUNTIME 0x08
#define RULE_RA_MASK 0x07		/* enum unwind_ra */
#define RULE_RA(r) ((r)->ra & RULE_RA_MASK)

struct unwind_rule {
	uint8_t cfa;			/* enum unwind_cfa */
	uint8_t fp;			/* enum unwind_fp */
	uint8_t ra;			/* enum unwind_ra and the flags above */
	uint8_t reg;			/* DWARF number for CFA_*REG, CFA_CALLEE_SAVED, RA_REG */
	int32_t cfa_off;
	int32_t fp_off;
	int32_t aux;
};

_Static_assert(sizeof(struct unwind_row) == 4, "rows are 4 bytes");
_Static_assert(sizeof(struct unwind_page) == 8, "page entries are 8 bytes");
_Static_assert(sizeof(struct unwind_rule) == 16, "rules are 16 bytes");
