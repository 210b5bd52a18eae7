/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of code_window.c share. "Level" is how far below the CFA a value is.
 *
 *	code_insns_read(w)	code_insns.c: reads instructions: seeds and what they lead to, then
 *				all else
 *	code_levels_find(w)	code_levels.c: joins the values of neighbours, and tells what is
 *				known of them
 *
 * Both return 0 or -ENOMEM.
 */
#pragma once

#include <stdbool.h>

#include "unwind/code_effect.h"
#include "unwind/code_groups.h"
#include "unwind/code_window.h"

#define NO_INSN UINT32_MAX
#define AN_EXIT UINT32_MAX
#define WORD 8

/* Where the caller's frame pointer is, before an instruction. */
enum callers_fp { FP_IS_UNKNOWN, FP_IS_REGISTER, FP_IS_SLOT, FP_IS_LOST };

struct insn {
	uint64_t addr, target;		/* target: of a jump, a branch, a call; else 0 */
	struct code_effect effect;
	uint32_t next, to;		/* instructions that follow; NO_INSN */
	uint32_t nr_jumps;		/* that lead here, calls too; or AN_EXIT */
	int32_t fp_slot;		/* FP_IS_SLOT: its level */
	uint8_t len, flow;
	uint8_t fp;			/* enum callers_fp */
	bool by_path;			/* a seed leads here */
	/* The way goes on at what was pushed: a return is a jump then, and a jump may be a call. */
	bool after_push;
	bool is_prologue;		/* push %rbp; mov %rsp,%rbp */
	bool pops;			/* its first operand leaves the stack, and is not %rbp */
	bool is_padding;
	bool is_split;			/* paths with different stack pointers lead here */
};

/*
 * A register with a known value. One is enough: compilers load the address of what is far away
 * right before they jump there, or count from the last such address.
 */
struct constant {
	uint64_t value;
	uint8_t reg;			/* X86_NO_REG: none */
};

struct path {
	uint64_t addr;
	struct constant known;
};

struct piece {
	const struct code_piece *in;
	size_t len;			/* instructions begin in so many bytes */
	uint32_t *at;			/* by byte: number of the instruction + 1, INSIDE, or 0 */
};
#define INSIDE UINT32_MAX

struct window {
	const struct code_window *in;
	struct piece pieces[CODE_MAX_PIECES];
	struct insn *v;
	size_t nr, cap;
	struct code_groups groups;	/* of instruction i: 2 i is sp before it, 2 i + 1 is fp */
	struct path *todo;
	size_t nr_todo, cap_todo;
	bool splits;			/* something is_split */
};

static inline uint32_t sp_of(uint32_t i)
{
	return 2 * i;
}

static inline uint32_t fp_of(uint32_t i)
{
	return 2 * i + 1;
}

static inline bool is_call(const struct insn *i)
{
	return i->flow == X86_CALL || i->flow == X86_CALL_ANY;
}

int code_insns_read(struct window *w);
int code_levels_find(struct window *w);

/* Whether control may go on at the next instruction. */
bool code_insns_go_on(uint8_t flow);
/* The piece in which an instruction may begin at an address, or NULL. */
struct piece *code_insns_piece(struct window *w, uint64_t addr);
uint32_t code_insns_at(struct window *w, uint64_t addr);	/* its number, or NO_INSN */
/* Puts a way to be followed on w->todo. 0 or -ENOMEM. */
int code_insns_todo(struct window *w, uint64_t addr, struct constant known);

const struct code_pin *code_levels_pin(const struct window *w, uint64_t addr);
/* The pin that an instruction jumps to, or NULL. */
const struct code_pin *code_levels_pin_of(const struct window *w, const struct insn *n);
