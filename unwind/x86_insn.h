/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes x86-64 instructions as far as unwinding needs it: how long one is, where control goes,
 * its operands, and which general registers it writes. Sources: Intel SDM volume 2 (opcode maps,
 * appendix A; VEX 2.3, EVEX 2.7), AMD APM volume 3 (XOP). 64-bit mode only.
 *
 *	while (x86_decode(p + at, len - at, &insn))
 *		... x86_writes(&insn) ...
 *		at += insn.len;
 *
 * Why not a library: Zydis 4.0, asked for no more than length, opcode and ModRM, makes building the
 * tables of files without unwind information 2.3 times as long (libc, libcrypto, python, gdb,
 * libx265: 0.77 s and 1.77 s) and of ordinary files 1.7 times (32 ms and 54 ms), because it decodes
 * whole instructions. It is the judge instead: tests/oracle/x86_zydis.sh compares every answer over
 * whole files; over 157 million instructions (chromium, node, LLVM, rustc, gdb, ...) each
 * difference has a reason that is listed there.
 *
 * The bytes are foreign: nothing after the given end is read, and an invalid instruction has length
 * 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_MAX_INSN 15

/* Register numbers as instructions hold them. */
enum { X86_AX = 0, X86_SP = 4, X86_BP = 5, X86_NO_REG = 255 };

/* Where control goes. */
enum x86_flow {
	X86_NEXT,			/* to the next instruction */
	X86_JUMP, X86_BRANCH, X86_CALL,	/* to target: always, perhaps, and back */
	X86_JUMP_ANY, X86_CALL_ANY,	/* through a register or memory */
	X86_RETURN,
	X86_STOP,			/* ud2, hlt, int3: it does not continue */
};

enum x86_map { X86_ONE_BYTE, X86_0F, X86_0F38, X86_0F3A, X86_OTHER_MAP };

struct x86_insn {
	uint8_t len;			/* 0: no instruction, or cut off */
	uint8_t map, op;		/* enum x86_map and the last opcode byte */
	uint8_t rex;			/* 0x40..0x4f; 0: none; for VEX and EVEX the same bits */
	bool is_vex;			/* or EVEX or XOP: an opcode of its own in map */
	bool opsize;			/* prefix 66 */
	uint8_t rep;			/* f2, f3 or 0 */
	bool has_modrm;
	uint8_t mod, reg, rm;		/* with the bits of rex; rm is a register if mod is 3 */
	uint8_t base, index, scale;	/* of memory: X86_NO_REG: none; scale is 1, 2, 4, 8 */
	bool is_rip;			/* memory at the next instruction + disp */
	int32_t disp;
	int64_t imm;			/* sign-extended; for jumps: from the next instruction */
	uint8_t flow;			/* enum x86_flow */
};

/*
 * Decodes the instruction at p, of which len bytes may be read. Returns its length; 0: there is no
 * instruction.
 */
unsigned x86_decode(const uint8_t *p, size_t len, struct x86_insn *insn);

/*
 * The general registers that it writes, wholly or in part, as far as the opcode says so: a bit for
 * each number.
 */
unsigned x86_writes(const struct x86_insn *insn);

/*
 * Whether it can change the general register reg in any way, even if its opcode does not name reg.
 * In doubt true.
 */
bool x86_may_write(const struct x86_insn *insn, unsigned reg);

/* Whether it is what compilers and linkers put between functions: nop, xchg %ax,%ax, int3. */
bool x86_is_padding(const struct x86_insn *insn);
