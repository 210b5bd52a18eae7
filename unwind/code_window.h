/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rows for x86-64 code made at run time: a window of memory, in which nobody says where
 * functions begin.
 *
 * The problem. code_rows.h counts from the starts of functions. Generated code may be entered
 * anywhere, by jumps through registers (qemu's blocks, LuaJIT's traces), and a window begins in the
 * middle of a function.
 *
 * The idea. Two neighbours on a path have stack pointers that differ by a known number, whatever
 * they are. So all instructions that paths join are one *group* in which a single number is
 * missing: how far one of them is from the CFA. It is enough to know that at one place, before or
 * behind:
 *
 *	sub $16, %rsp		?
 *	call g			? + 16
 *	add $16, %rsp		? + 16		the same group
 *	pop %rbx		?
 *	ret			? - 8 = 8	so ? is 16
 *
 * What tells it, the strongest first: a return; push %rbp, mov %rsp,%rbp; a jump to code whose
 * rule is known (struct code_pin). The frame pointer has a number of its own in the same group
 * while it is made from the stack pointer, so leave and %rbp-based frames need no case of their
 * own. Where the caller's frame pointer is, is found backwards from what loads it at the end.
 * Control that goes on behind a call is believed last, and only where it contradicts nothing,
 * because the callee may never return.
 *
 * Groups whose returns disagree get no rows. All rows are marked RULE_GUESSED: a caller checks what
 * it finds by them. CFA_UNSUPPORTED: the code was read and tells nothing; CFA_NONE: not read.
 *
 * The bytes are foreign: nothing is read outside of the pieces, and work and memory are bounded by
 * a multiple of their size. Fuzzed (tests/fuzz/fuzz_code_window.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"

#define CODE_WINDOW_BYTES (1u << 16)	/* of the window; it begins at a multiple of that */
#define CODE_PIECE_BYTES 4096		/* of another piece */
#define CODE_MAX_PIECES 24
#define CODE_MAX_PINS 64
#define CODE_MAX_SEEDS 64
#define CODE_MAX_WANTS 16
#define CODE_SEARCH_WORDS 16		/* of rules that leave open which word it is: row.h */
#define CODE_BEHIND 16			/* so much may be given of what follows the window */

struct code_piece {
	const uint8_t *code;
	size_t len;
	uint64_t addr;			/* of its first byte */
};

/* What is known of an address outside of all pieces, as its rule would say it. */
struct code_pin {
	uint64_t addr;
	int32_t cfa_off;		/* CFA = sp + cfa_off */
	int32_t fp_off;
	uint8_t fp;			/* enum unwind_fp: FP_SAME, FP_CFA or FP_UNDEFINED */
	/*
	 * The rule is that of a file. Its code may expect what the jump has pushed (an exit of a
	 * trace), so the group's highest stack pointer counts as the one that the rule means.
	 */
	uint8_t is_file;
	uint8_t unused[6];
};

struct code_window {
	const struct code_piece *pieces;	/* [0] is the window; they do not overlap */
	size_t nr_pieces;
	const struct code_pin *pins;
	size_t nr_pins;
	const uint64_t *seeds;		/* where instructions begin; also return addresses */
	size_t nr_seeds;
};

/* Addresses outside of the pieces that would tell more, the most wanted first. */
struct code_wants {
	uint64_t v[CODE_MAX_WANTS];
	size_t nr;
};

/* The multiple of CODE_WINDOW_BYTES in front of the window, from which its table counts. */
static inline uint64_t code_window_base(const struct code_window *in)
{
	return in->pieces[0].addr & ~(uint64_t)(CODE_WINDOW_BYTES - 1);
}

/* Appends the rows of pieces[0] to *out, which is empty. 0, -ENOMEM, or -EINVAL: too large. */
int code_window_rows(const struct code_window *in, struct cfi_rows *out, struct code_wants *wants);
