/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_state.h"

#include <string.h>

#include "unwind/code_realign.h"

#define WORD 8
#define SYSCALL_REACH 4		/* instructions */

struct code_state code_state_at_entry(void)
{
	return (struct code_state){ .sp = WORD, .knows_sp = 1 };
}

struct code_state code_state_root(enum code_root certainty)
{
	return (struct code_state){ .is_root = certainty, .fp_is = CODE_FP_OTHER };
}

struct code_state code_state_nothing(void)
{
	return (struct code_state){ .fp_is = CODE_FP_OTHER };
}

bool code_state_is_entry(const struct code_state *s)
{
	return s->knows_sp && s->sp == WORD && s->fp_is == CODE_FP_CALLERS;
}

static void lose_sp(struct code_state *s)
{
	s->knows_sp = 0;
	s->sp = 0;
	s->has_ra_reg = s->ra_reg = 0;
}

static void lose_copy(struct code_state *s)
{
	s->has_copy = s->copy_reg = 0;
	s->copy = 0;
}

static void set_fp(struct code_state *s, enum code_fp what, int32_t distance)
{
	s->fp_is = (uint8_t)what;
	s->fp = what == CODE_FP_BASE ? distance : 0;
}

/* Sets the distance of the stack pointer. What is below it may be overwritten at any time. */
static void set_sp(struct code_state *s, int64_t distance)
{
	if (distance < 0 || distance > CODE_MAX_FRAME) {
		lose_sp(s);
		return;
	}
	s->knows_sp = 1;
	s->sp = (int32_t)distance;
	if (s->saved > distance)
		s->saved = 0;
	if (distance)
		s->has_ra_reg = s->ra_reg = 0;
}

static void set_copy(struct code_state *s, unsigned reg, int64_t distance)
{
	if (distance < -CODE_MAX_FRAME || distance > CODE_MAX_FRAME)
		return;
	s->has_copy = 1;
	s->copy_reg = (uint8_t)reg;
	s->copy = (int32_t)distance;
}

static void push(struct code_state *s, unsigned reg)
{
	bool gives_back = s->has_ra_reg && s->ra_reg == reg;

	if (!s->knows_sp)
		return;
	if (!s->sp && !gives_back) {
		lose_sp(s);		/* the return address is overwritten */
		return;
	}
	set_sp(s, s->sp + WORD);
	if (reg == X86_BP && s->fp_is == CODE_FP_CALLERS && !s->saved)
		s->saved = s->sp;
}

static void pop(struct code_state *s, unsigned reg)
{
	bool is_slot = s->knows_sp && s->saved && s->saved == s->sp;

	if (reg == X86_SP) {
		lose_sp(s);
		return;
	}
	if (reg == X86_BP)
		set_fp(s, is_slot ? CODE_FP_CALLERS : CODE_FP_OTHER, 0);
	if (s->has_copy && s->copy_reg == reg)
		lose_copy(s);
	if (!s->knows_sp)
		return;
	set_sp(s, s->sp - WORD);
	if (s->knows_sp && !s->sp && reg != X86_BP && reg != X86_NO_REG) {
		s->has_ra_reg = 1;
		s->ra_reg = (uint8_t)reg;
	}
}

/* Sets *d to the distance of an operand that counts from rsp, rbp or the register made from rsp. */
static bool distance_of(const struct code_state *s, const struct x86_insn *in, int64_t *d)
{
	if (in->mod == 3 || in->index != X86_NO_REG || in->is_rip)
		return false;
	if (in->base == X86_SP && s->knows_sp)
		*d = (int64_t)s->sp - in->disp;
	else if (in->base == X86_BP && s->fp_is == CODE_FP_BASE)
		*d = (int64_t)s->fp - in->disp;
	else if (s->has_copy && in->base == s->copy_reg)
		*d = (int64_t)s->copy - in->disp;
	else
		return false;
	return true;
}

static void leave(struct code_state *s)
{
	if (s->fp_is != CODE_FP_BASE) {
		lose_sp(s);
		set_fp(s, CODE_FP_OTHER, 0);
		return;
	}
	set_sp(s, s->fp);
	pop(s, X86_BP);
}

/* Applies mov between two registers, one of which is rsp. */
static void move_sp(struct code_state *s, unsigned to, unsigned from)
{
	if (to == X86_SP) {
		if (from == X86_BP && s->fp_is == CODE_FP_BASE)
			set_sp(s, s->fp);
		else if (s->has_copy && s->copy_reg == from)
			set_sp(s, s->copy);
		else
			lose_sp(s);
	} else if (to == X86_BP) {
		set_fp(s, s->knows_sp ? CODE_FP_BASE : CODE_FP_OTHER, s->sp);
	} else if (s->knows_sp) {
		set_copy(s, to, s->sp);
	} else if (s->has_copy && s->copy_reg == to) {
		lose_copy(s);
	}
}

/* Applies mov %rbp, slot and mov slot, %rbp. */
static bool save_or_load_fp(struct code_state *s, const struct x86_insn *in)
{
	int64_t d;

	if (in->reg != X86_BP || !distance_of(s, in, &d) || d <= 0)
		return false;
	if (in->op == 0x89) {
		if (s->fp_is == CODE_FP_CALLERS && !s->saved && d <= CODE_MAX_FRAME && d > WORD)
			s->saved = (int32_t)d;
	} else {
		set_fp(s, s->saved == d ? CODE_FP_CALLERS : CODE_FP_OTHER, 0);
	}
	return true;
}

/*
 * Whether a value is put where the return address is. Builtins of V8 copy it down and put an
 * argument into its place. The caller is no longer where the CFA says then.
 */
static bool overwrites_return(const struct code_state *s, const struct x86_insn *in)
{
	int64_t d;

	return in->map == X86_ONE_BYTE && (in->op == 0x89 || in->op == 0xc7) && in->rex & 8 &&
	       distance_of(s, in, &d) && d == WORD;
}

static bool step_mov(struct code_state *s, const struct x86_insn *in)
{
	unsigned to = in->op == 0x89 ? in->rm : in->reg, from = in->op == 0x89 ? in->reg : in->rm;

	if (in->map != X86_ONE_BYTE || (in->op != 0x89 && in->op != 0x8b) || !(in->rex & 8))
		return false;
	if (in->mod != 3)
		return save_or_load_fp(s, in);
	if (to != X86_SP && from != X86_SP)
		return false;
	move_sp(s, to, from);
	return true;
}

/*
 * Applies lea. Code makes addresses of locals all the time, so only the CFA and the end of a loop
 * of stack probes are kept.
 */
static bool step_lea(struct code_state *s, const struct x86_insn *in)
{
	int64_t d = 0;
	bool known;

	if (in->map != X86_ONE_BYTE || in->op != 0x8d)
		return false;
	known = (in->rex & 8) && distance_of(s, in, &d);
	if (in->reg == X86_SP) {
		if (known)
			set_sp(s, d);
		else
			lose_sp(s);
	} else if (in->reg == X86_BP) {
		if (known && d >= 0 && d <= CODE_MAX_FRAME)
			set_fp(s, CODE_FP_BASE, (int32_t)d);
		else
			set_fp(s, CODE_FP_OTHER, 0);
	} else if (known && (!d || (in->base == X86_SP && in->disp < 0))) {
		set_copy(s, in->reg, d);
	} else {
		return false;
	}
	return true;
}

/* Applies add, sub and other arithmetic on rsp with a constant. */
static bool step_add(struct code_state *s, const struct x86_insn *in)
{
	unsigned which = in->reg & 7;

	if (in->map != X86_ONE_BYTE || (in->op != 0x81 && in->op != 0x83) || in->mod != 3 ||
	    in->rm != X86_SP)
		return false;
	if (which == 7)
		return true;
	if (which != 0 && which != 5)
		lose_sp(s);
	else if (s->knows_sp)
		set_sp(s, s->sp + (which == 5 ? in->imm : -in->imm));
	return true;
}

static bool step_stack(struct code_state *s, const struct x86_insn *in)
{
	unsigned low = (in->op & 7u) | (in->rex & 1u) << 3;
	bool one = in->map == X86_ONE_BYTE, segment = in->map == X86_0F && (in->op & 0xf7) == 0xa0;

	if (one && (in->op & 0xf8) == 0x50)
		push(s, low);
	else if (one && (in->op & 0xf8) == 0x58)
		pop(s, low);
	else if ((one && (in->op == 0x68 || in->op == 0x6a || in->op == 0x9c ||
			  (in->op == 0xff && (in->reg & 7) == 6))) ||
		 segment)
		push(s, X86_NO_REG);
	else if ((one && (in->op == 0x8f || in->op == 0x9d)) ||
		 (in->map == X86_0F && (in->op & 0xf7) == 0xa1))
		pop(s, one && in->op == 0x8f && in->mod == 3 ? in->rm : X86_NO_REG);
	else if (one && in->op == 0xc9)
		leave(s);
	else
		return false;
	if (in->opsize)
		lose_sp(s);	/* a push of two bytes: no compiler writes it */
	return true;
}

/* Applies enter, which is the frame pointer's prologue in one instruction. */
static bool step_enter(struct code_state *s, const struct x86_insn *in)
{
	if (in->map != X86_ONE_BYTE || in->op != 0xc8)
		return false;
	push(s, X86_BP);
	set_fp(s, s->knows_sp && !in->disp ? CODE_FP_BASE : CODE_FP_OTHER, s->sp);
	if (s->knows_sp && !in->disp)
		set_sp(s, s->sp + in->imm);
	else
		lose_sp(s);
	return true;
}

/* Loses the registers that a callee need not keep; the kernel overwrites rcx and r11. */
static void lose_clobbered(struct code_state *s, const struct x86_insn *in)
{
	static const uint16_t by_call = 0x0fc7, by_syscall = 0x0802;
	uint16_t mask = 0;

	if (in->flow == X86_CALL || in->flow == X86_CALL_ANY)
		mask = by_call;
	else if (in->map == X86_0F && in->op == 0x05)
		mask = by_syscall;
	if (s->has_copy && mask >> s->copy_reg & 1)
		lose_copy(s);
	if (s->has_ra_reg && mask >> s->ra_reg & 1)
		lose_sp(s);
}

static void lose_written(struct code_state *s, const struct x86_insn *in)
{
	unsigned written = x86_writes(in);

	if (!written)
		return;
	if (written >> X86_BP & 1)
		set_fp(s, CODE_FP_OTHER, 0);
	if (written >> X86_SP & 1)
		lose_sp(s);
	if (s->has_copy && written >> s->copy_reg & 1)
		lose_copy(s);
	if (s->has_ra_reg && written >> s->ra_reg & 1)
		lose_sp(s);
}

/* Counts the few instructions between clone's system call and what the child does first. */
static void step_syscall(struct code_state *s, const struct x86_insn *in)
{
	bool clears_fp = in->map == X86_ONE_BYTE && (in->op == 0x31 || in->op == 0x33) &&
			 in->mod == 3 && in->reg == X86_BP && in->rm == X86_BP;

	if (clears_fp && s->since_syscall && s->fp_is == CODE_FP_CALLERS && !s->saved)
		*s = code_state_root(CODE_ROOT_GUESS);
	else if (in->map == X86_0F && in->op == 0x05 && !in->is_vex)
		s->since_syscall = SYSCALL_REACH;
	else if (s->since_syscall)
		s->since_syscall--;
}

void code_state_step(struct code_state *s, const struct x86_insn *in)
{
	if (s->is_root)
		return;
	step_syscall(s, in);
	if (code_realign_step(s, in))
		return;
	if (in->is_vex) {
		lose_written(s, in);
		return;
	}
	if (overwrites_return(s, in)) {
		*s = code_state_nothing();
		return;
	}
	if (in->flow == X86_CALL && !in->imm) {
		push(s, X86_NO_REG);	/* calls the next instruction, to read the pc */
		return;
	}
	if (step_stack(s, in) || step_mov(s, in) || step_add(s, in) || step_lea(s, in) ||
	    step_enter(s, in))
		return;
	lose_clobbered(s, in);
	lose_written(s, in);
}

struct code_state code_state_join(const struct code_state *a, const struct code_state *b)
{
	struct code_state s = *a;

	if (!memcmp(a, b, sizeof(*a)))
		return s;
	if (a->is_root != b->is_root)
		return code_state_nothing();
	if (a->since_syscall != b->since_syscall)
		s.since_syscall = 0;
	if (a->knows_sp != b->knows_sp || a->sp != b->sp || a->has_ra_reg != b->has_ra_reg ||
	    a->ra_reg != b->ra_reg)
		lose_sp(&s);
	if (a->fp_is != b->fp_is || a->fp != b->fp)
		set_fp(&s, CODE_FP_OTHER, 0);
	if (a->saved != b->saved)
		s.saved = 0;
	if (a->realign != b->realign || a->cfa_slot != b->cfa_slot) {
		s.realign = CODE_NOT_REALIGNED;
		s.cfa_slot = s.below_fp = 0;
		s.knows_below_fp = 0;
	} else if (a->knows_below_fp != b->knows_below_fp || a->below_fp != b->below_fp) {
		s.below_fp = 0;
		s.knows_below_fp = 0;
	}
	if (a->has_copy != b->has_copy || a->copy_reg != b->copy_reg || a->copy != b->copy)
		lose_copy(&s);
	return s;
}

struct unwind_rule code_state_rule(const struct code_state *s)
{
	static const uint8_t dwarf[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };
	/* A prologue makes this; other values of rbp may be just an address in the frame. */
	bool is_frame = s->fp == 2 * WORD && s->saved == 2 * WORD;
	struct unwind_rule r = { .ra = RA_CFA | RULE_GUESSED };

	if (s->is_root)
		return (struct unwind_rule){ .cfa = CFA_ROOT,
					     .ra = s->is_root == CODE_ROOT ? 0 : RULE_GUESSED };
	if (s->fp_is == CODE_FP_BASE && (is_frame || !s->knows_sp)) {
		r.cfa = CFA_FP;
		r.cfa_off = s->fp;
	} else if (s->knows_sp && s->sp >= WORD) {
		r.cfa = CFA_SP;
		r.cfa_off = s->sp;
	} else if (s->knows_sp && s->has_ra_reg) {
		r.cfa = CFA_SP;
		r.ra = RA_REG | RULE_GUESSED;
		r.reg = dwarf[s->ra_reg & 15];
	} else if (s->cfa_slot) {
		r.cfa = CFA_DEREF_FP;
		r.cfa_off = -s->cfa_slot;
	} else if (s->has_copy) {
		r.cfa = CFA_REG;
		r.cfa_off = s->copy;
		r.reg = dwarf[s->copy_reg & 15];
	} else {
		return (struct unwind_rule){ .cfa = CFA_NONE };
	}
	if (s->saved) {
		r.fp = FP_CFA;
		r.fp_off = -s->saved;
	} else if (s->realign == CODE_REALIGNED) {
		r.fp = FP_DEREF_FP;
	} else if (s->fp_is != CODE_FP_CALLERS) {
		r.fp = FP_UNDEFINED;
	}
	return r;
}
