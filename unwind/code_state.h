/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known before one instruction of a function, as far as unwinding needs it: how far the
 * stack pointer and perhaps the frame pointer are below the CFA, and where the caller's frame
 * pointer is. Every distance is the CFA minus an address, in bytes. States are compared with
 * memcmp(), so unused fields must be 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "unwind/row.h"
#include "unwind/x86_insn.h"

#define CODE_MAX_FRAME (1 << 26)	/* bytes; a larger frame is not believed */

/* What rbp holds: the caller's value, CFA - fp, or anything. */
enum code_fp { CODE_FP_CALLERS, CODE_FP_BASE, CODE_FP_OTHER };

/* How far a prologue is that aligns the stack more strictly than the caller: see code_realign.h. */
enum code_realign { CODE_NOT_REALIGNED, CODE_SP_ALIGNED, CODE_FP_PUSHED, CODE_REALIGNED };

struct code_state {
	int32_t sp;			/* if knows_sp */
	int32_t fp;			/* if fp_is is CODE_FP_BASE */
	int32_t saved;			/* of the slot with the caller's rbp; 0: none */
	int32_t copy;			/* of the value in copy_reg */
	int32_t below_fp;		/* CODE_REALIGNED: rbp - rsp, if knows_below_fp */
	int32_t cfa_slot;		/* CODE_REALIGNED: rbp - slot with the CFA; 0: none */
	uint8_t knows_sp, fp_is;
	uint8_t is_root;		/* enum code_root */
	uint8_t has_copy, copy_reg;	/* a register that was made from the stack pointer */
	uint8_t ra_reg;			/* sp is 0: the return address was popped into this */
	uint8_t has_ra_reg;
	uint8_t since_syscall;		/* counts down from a system call */
	uint8_t realign;		/* enum code_realign */
	uint8_t knows_below_fp;
	uint8_t unused[2];
};

_Static_assert(sizeof(struct code_state) == 36, "no hidden padding");

/*
 * How certain it is that a stack begins here. The ELF header says where the program's entry point
 * is. That the child of clone() clears the frame pointer without having saved it is only a habit,
 * so such a root is a guess.
 */
enum code_root { CODE_NO_ROOT, CODE_ROOT_GUESS, CODE_ROOT };

struct code_state code_state_at_entry(void);	/* where a call arrives */
struct code_state code_state_root(enum code_root certainty);
struct code_state code_state_nothing(void);	/* nothing is known */
/* The state at the first instruction of a function, and at a tail call. */
bool code_state_is_entry(const struct code_state *s);

/*
 * Makes s the state after an instruction that control passes; a call counts as one that kept the
 * stack.
 */
void code_state_step(struct code_state *s, const struct x86_insn *insn);

/* The state that holds whichever of two paths was taken. */
struct code_state code_state_join(const struct code_state *a, const struct code_state *b);

/* CFA_NONE if the CFA is unknown. Marked RULE_GUESSED, except for CODE_ROOT. */
struct unwind_rule code_state_rule(const struct code_state *s);
