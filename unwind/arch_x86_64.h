/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the unwinder must know of x86-64: where the kernel keeps a thread's user registers (struct
 * pt_regs as an array of 64-bit words), how DWARF numbers them (System V ABI x86-64, figure 3.36),
 * and where a signal frame keeps them (struct ucontext of the kernel's uapi). Included by the BPF
 * side and the host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ARCH_NR_REGS 21		/* words in struct pt_regs */
#define ARCH_REG_FP 4		/* rbp */
#define ARCH_REG_PC 16		/* rip */
#define ARCH_REG_CS 17
#define ARCH_REG_SP 19		/* rsp */

#define ARCH_ELF_MACHINE 62	/* EM_X86_64 */
#define ARCH_SELF_IS_THREAD_POINTER 1	/* pthread_self() */
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
#define ARCH_UCONTEXT_FLAGS 7	/* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
#define ARCH_UCONTEXT_ANY 1	/* old processors have no UC_FP_XSTATE */
/*
 * A frame record is the last that a frame has, below the return address, so it tells the CFA, and
 * behind that of a handler the stack pointer is at the ucontext.
 */
#define ARCH_FP_TELLS_CFA 1
#define ARCH_FP_CHAIN_MEETS_SIGNALS 1
#define ARCH_SIGNAL_FP 10	/* words of uc_mcontext */
#define ARCH_SIGNAL_SP 15
#define ARCH_SIGNAL_PC 16

#define ARCH_RA_CFA_OFF (-8)	/* RA_CFA: the return address is always pushed by the call */

/*
 * Code is read as 64-bit words, whose lowest byte is the first. The functions below know the few
 * instructions that compilers put around calls and at both ends of a function (Intel SDM volume 2).
 */
#define ARCH_KNOWS_CALLS 1
enum arch_call { ARCH_CALL_NONE, ARCH_CALL_INDIRECT, ARCH_CALL_DIRECT };

/*
 * Much of this is without branches, because the verifier would follow each of them. Values are
 * compared by their difference, which is 0 when they are equal; 0 - 1 is the only difference whose
 * top bit is set.
 */
#define ARCH_IS_ZERO(x) (((x) - 1) >> 63)

/*
 * 1 if a call of this many bytes (ff /2: ModRM, then what it asks for) is at the end of the word,
 * else 0.
 */
static inline uint64_t arch_is_indirect_call(uint64_t code, int bytes, uint8_t mask, uint8_t modrm)
{
	uint64_t call = code >> (64 - 8 * bytes);

	return ARCH_IS_ZERO(((call & 0xff) ^ 0xff) | ((call >> 8 & mask) ^ modrm));
}

/* Which kind of call the eight bytes before ra are; *target: where a direct call goes. */
static inline enum arch_call arch_call_before(uint64_t code, uint64_t ra, uint64_t *target)
{
	if ((code >> 24 & 0xff) == 0xe8) {
		*target = ra + (int64_t)(int32_t)(code >> 32);
		return ARCH_CALL_DIRECT;
	}
	/* Registers and (register); disp8 or SIB; both; disp32 or rip-relative; SIB and disp32. */
	if (arch_is_indirect_call(code, 2, 0xf8, 0xd0) |
	    arch_is_indirect_call(code, 2, 0xf8, 0x10) |
	    arch_is_indirect_call(code, 3, 0xf8, 0x50) |
	    arch_is_indirect_call(code, 3, 0xff, 0x14) |
	    arch_is_indirect_call(code, 4, 0xff, 0x54) |
	    arch_is_indirect_call(code, 6, 0xf8, 0x90) |
	    arch_is_indirect_call(code, 6, 0xff, 0x15) |
	    arch_is_indirect_call(code, 7, 0xff, 0x94) | arch_is_indirect_call(code, 7, 0xff, 0x14))
		return ARCH_CALL_INDIRECT;
	return ARCH_CALL_NONE;
}

/* First instruction of functions that are built for indirect branch tracking. */
#define ARCH_ENDBR64 0xfa1e0ff3u

static inline void arch_skip_code(uint64_t code[2], int bytes)
{
	code[0] = code[0] >> (8 * bytes) | code[1] << (64 - 8 * bytes);
	code[1] >>= 8 * bytes;
}

/* Whether the code begins with mov %rsp, %rbp, in either encoding: 0 or 1. */
static inline uint64_t arch_sets_fp(uint64_t code)
{
	return ARCH_IS_ZERO((code & 0xffffff) ^ 0xe58948) |
	       ARCH_IS_ZERO((code & 0xffffff) ^ 0xec8b48);
}

#define ARCH_HOTSPOT_BANG 0x248489	/* mov %eax, disp32(%rsp) */
#define ARCH_HOTSPOT_POLL 0xa73b49	/* cmp disp32(%r15), %rsp */

/*
 * Where the return address is while the code at pc has no frame, from the 16 bytes at pc - 1. It
 * is at sp before push %rbp and at ret (or at a jump right after pop %rbp and leave). It is at sp +
 * 8 right after push %rbp, which has just stored what is still in fp, and at pop %rbp before ret.
 * HotSpot checks for a safepoint between the two (cmp, ja) and touches the end of the stack before
 * anything else. -1: the code does not say.
 */
static inline int arch_return_slot(const uint64_t bytes[2], bool sp_holds_fp)
{
	uint64_t code[2] = { bytes[0], bytes[1] };
	uint8_t before = (uint8_t)code[0], first;
	uint64_t fp_is_set = 0;

	arch_skip_code(code, 1);
	first = (uint8_t)code[0];
	if (first == 0x5d &&
	    ((code[0] >> 8 & 0xff) == 0xc3 || (code[0] >> 8 & 0xffffff) == ARCH_HOTSPOT_POLL))
		return 8;
	if ((code[0] & 0xffffff) == ARCH_HOTSPOT_BANG ||
	    (before == 0x5d && (code[0] & 0xffffff) == ARCH_HOTSPOT_POLL) ||
	    ((code[0] & 0xffff) == 0x870f && (code[0] >> 48 & 0xff) == 0xc3))
		return 0;
	if (first == 0xc3 || first == 0xc2 || (code[0] & 0xfffe) == 0xc3f2)
		return 0;
	if ((before == 0x5d || before == 0xc9) &&
	    (first == 0xe9 || first == 0xeb || (code[0] & 0xf0ff) == 0xe0ff))
		return 0;
	if ((uint32_t)code[0] == ARCH_ENDBR64)
		arch_skip_code(code, 4);
	first = (uint8_t)code[0];
	for (int i = 0; i < 10; i++) {
		fp_is_set |= arch_sets_fp(code[0]);
		arch_skip_code(code, 1);
	}
	if (!fp_is_set)
		return -1;
	if (first == 0x55)
		return 0;
	return sp_holds_fp ? 8 : -1;
}

/* Whether the function that begins with these 16 bytes makes a frame. */
static inline bool arch_has_frame(const uint64_t bytes[2])
{
	uint64_t code[2] = { bytes[0], bytes[1] };

	if ((uint32_t)code[0] == ARCH_ENDBR64)
		arch_skip_code(code, 4);
	if ((code[0] & 0xffffff) == ARCH_HOTSPOT_BANG)
		arch_skip_code(code, 7);
	/* push %rbp; sub N, %rsp */
	return (code[0] & 0xff) == 0x55 || (code[0] & 0xfffdff) == 0xec8148;
}

#define ARCH_FRAME_UNKNOWN (-1)
#define ARCH_FRAME_BY_FP (-2)	/* the frame pointer tells */

/* One bit for each byte of code where mov %rsp, %rbp or sub N, %rsp may stand; next follows it. */
static inline uint64_t arch_prologue_mask(uint64_t code, uint64_t next)
{
	uint64_t mask = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t x = code & 0xffffff;
		uint64_t is_sub = (x & 0xfffdff) ^ 0xec8148, is_mov = x ^ 0xe58948,
			 is_other_mov = x ^ 0xec8b48;

		mask |= (ARCH_IS_ZERO(is_sub) | ARCH_IS_ZERO(is_mov) | ARCH_IS_ZERO(is_other_mov))
			<< i;
		code = code >> 8 | next << 56;
		next >>= 8;
	}
	return mask;
}

/*
 * How far from sp the return address is, if the last instruction of a prologue begins at byte i of
 * code[1] and pc is behind bytes further on; ARCH_FRAME_UNKNOWN if there is no such instruction.
 * code[0] and code[2] are the words before and after. Prologues as JIT compilers write them:
 *
 *	push %rbp; mov %rsp, %rbp	push %rbp; sub N, %rsp		sub N, %rsp; mov %rbp,
 *									M(%rsp)
 */
static inline int64_t arch_prologue_at(const uint64_t code[3], int i, int64_t behind)
{
	uint64_t x = i ? code[1] >> 8 * i | code[2] << (64 - 8 * i) : code[1],
		 next = code[2] >> 8 * i;
	int64_t pushed = (i ? code[1] >> (8 * i - 8) & 0xff : code[0] >> 56) == 0x55 ? 8 : 0, room;

	if (pushed && arch_sets_fp(x))
		return ARCH_FRAME_BY_FP;
	if ((x & 0xffffff) == 0xec8348 && (pushed || x >> 32 == 0x246c8948))
		room = (int64_t)(x >> 24 & 0x7f);
	else if ((x & 0xffffff) == 0xec8148 &&
		 (pushed || (x >> 56 == 0x48 && (next & 0x3fff) == 0x2c89)))
		room = (int64_t)(x >> 24 & 0x7fffffff);
	else
		return ARCH_FRAME_UNKNOWN;
	return behind > 0 ? room + pushed : behind < 0 ? 0 : pushed;
}

/* Skips bytes of code if is is 1, and none if it is 0: without a branch. */
static inline void arch_skip_if(uint64_t code[2], uint64_t is, int bytes)
{
	uint64_t bits = 8 * (uint64_t)bytes * is;

	code[0] = code[0] >> bits | (code[1] << 1) << (63 - bits);
	code[1] >>= bits;
}

/* The operand of sub N, %rsp (0xec8348) or add N, %rsp (0xc48348), which is skipped; else 0. */
static inline int64_t arch_skip_sp_change(uint64_t code[2], uint32_t insn)
{
	uint64_t is = ARCH_IS_ZERO((code[0] & 0xffffff) ^ insn);
	int64_t by = (int8_t)(code[0] >> 24) * (int64_t)is;

	arch_skip_if(code, is, 4);
	return by;
}

/*
 * How far from sp the return address is, if the 16 bytes at pc lead straight to a return: a
 * trampoline, which does nothing but call what it was given, or what is left of it.
 * ARCH_FRAME_UNKNOWN: it is no such code. *pops_fp: the caller's frame pointer is below it.
 *
 *	endbr64; sub N, %rsp; call *reg; add N, %rsp; pop %rbp; ret	any of these may be missing
 */
static inline int64_t arch_way_out(const uint64_t bytes[2], uint64_t *pops_fp)
{
	uint64_t code[2] = { bytes[0], bytes[1] }, pops;
	int64_t room;

	arch_skip_if(code, ARCH_IS_ZERO((code[0] & 0xffffffff) ^ ARCH_ENDBR64), 4);
	room = -arch_skip_sp_change(code, 0xec8348);
	/* The prefix of %r8 to %r15. */
	arch_skip_if(code, ARCH_IS_ZERO((code[0] & 0xf8ffff) ^ 0xd0ff41), 1);
	arch_skip_if(code, ARCH_IS_ZERO((code[0] & 0xf8ff) ^ 0xd0ff), 2);
	room += arch_skip_sp_change(code, 0xc48348);
	pops = ARCH_IS_ZERO((code[0] & 0xff) ^ 0x5d);
	arch_skip_if(code, pops, 1);
	arch_skip_if(code, ARCH_IS_ZERO((code[0] & 0xfe) ^ 0xf2), 1);
	*pops_fp = pops;
	room += 8 * (int64_t)pops;
	return (code[0] & 0xff) == 0xc3 && room >= 0 ? room : ARCH_FRAME_UNKNOWN;
}

/*
 * Whether the thread is a new task that clone() or clone3() has returned 0 to and that has not run
 * yet: orig_ax still says which call it was.
 */
static inline bool arch_is_new_task(const uint64_t regs[ARCH_NR_REGS])
{
	return !regs[10] && (regs[15] == 56 || regs[15] == 435);
}

/* Bits that are no part of a code address in a saved return address. */
static inline uint64_t arch_strip(uint64_t ra)
{
	return ra;
}
