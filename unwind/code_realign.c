/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_realign.h"

#include "unwind/code_state.h"

#define WORD 8

static void leave_frame(struct code_state *s, bool has_callers_fp)
{
	s->realign = CODE_NOT_REALIGNED;
	s->below_fp = s->cfa_slot = 0;
	s->knows_below_fp = 0;
	if (has_callers_fp)
		s->fp_is = CODE_FP_CALLERS;
}

static void set_below(struct code_state *s, bool known, int64_t distance)
{
	known = known && distance >= 0 && distance <= CODE_MAX_FRAME;
	s->knows_below_fp = known;
	s->below_fp = known ? (int32_t)distance : 0;
}

static bool is_cfa(const struct code_state *s, unsigned reg)
{
	return s->has_copy && !s->copy && s->copy_reg == reg;
}

static void save_cfa(struct code_state *s, int64_t slot)
{
	if (!s->cfa_slot && slot > 0 && slot <= CODE_MAX_FRAME)
		s->cfa_slot = (int32_t)slot;
}

/* A register is loaded from rbp - slot. */
static void load(struct code_state *s, unsigned reg, int64_t slot)
{
	if (slot && slot == s->cfa_slot) {
		s->has_copy = 1;
		s->copy_reg = (uint8_t)reg;
		s->copy = 0;
	} else if (s->has_copy && s->copy_reg == reg) {
		s->has_copy = s->copy_reg = 0;
		s->copy = 0;
	}
}

static void pop(struct code_state *s, unsigned reg)
{
	int32_t slot = s->below_fp;
	bool known = s->knows_below_fp;

	if (reg == X86_BP) {
		leave_frame(s, known && !slot);
		return;
	}
	load(s, reg, known ? slot : 0);
	set_below(s, known, (int64_t)slot - WORD);
}

static bool is_memory_at_fp(const struct x86_insn *in)
{
	return in->mod != 3 && in->base == X86_BP && in->index == X86_NO_REG && !in->is_rip;
}

/* Applies push, pop and leave. */
static bool step_stack(struct code_state *s, const struct x86_insn *in)
{
	unsigned reg = (in->op & 7u) | (in->rex & 1u) << 3, group = in->op & 0xf8;
	bool pushes_other =
		in->op == 0x68 || in->op == 0x6a || (in->op == 0xff && (in->reg & 7) == 6);

	if (group == 0x50 || pushes_other) {
		set_below(s, s->knows_below_fp, (int64_t)s->below_fp + WORD);
		if (!pushes_other && s->knows_below_fp && is_cfa(s, reg))
			save_cfa(s, s->below_fp);
	} else if (group == 0x58 && reg != X86_SP) {
		pop(s, reg);
	} else if (in->op == 0xc9) {
		leave_frame(s, true);
	} else {
		return false;
	}
	return true;
}

/* Applies mov to and from the slot, and add, sub and lea of rsp. */
static bool step_other(struct code_state *s, const struct x86_insn *in)
{
	unsigned which = in->reg & 7;

	if (!(in->rex & 8))
		return false;
	if (in->op == 0x89 && is_memory_at_fp(in) && is_cfa(s, in->reg)) {
		save_cfa(s, -(int64_t)in->disp);
	} else if (in->op == 0x8b && is_memory_at_fp(in) && in->reg != X86_BP &&
		   in->reg != X86_SP) {
		load(s, in->reg, -(int64_t)in->disp);
	} else if (in->op == 0x8d && is_memory_at_fp(in) && in->reg == X86_SP) {
		set_below(s, true, -(int64_t)in->disp);
	} else if ((in->op == 0x81 || in->op == 0x83) && in->mod == 3 && in->rm == X86_SP &&
		   (which == 0 || which == 5)) {
		set_below(s, s->knows_below_fp, s->below_fp + (which == 5 ? in->imm : -in->imm));
	} else {
		return false;
	}
	return true;
}

static bool step_frame(struct code_state *s, const struct x86_insn *in)
{
	unsigned written = x86_writes(in);

	if (in->map == X86_ONE_BYTE && !in->is_vex && !in->opsize &&
	    (step_stack(s, in) || step_other(s, in)))
		return true;
	if (written >> X86_BP & 1)
		leave_frame(s, false);
	else if (written >> X86_SP & 1)
		set_below(s, false, 0);
	return false;
}

/*
 * The distance of rsp from the CFA is unknown until the frame pointer is set up. But where code
 * saves rbp and then copies rsp to it, rsp is where rbp was saved.
 */
static void step_prologue(struct code_state *s, const struct x86_insn *in)
{
	bool one = in->map == X86_ONE_BYTE && !in->is_vex;
	bool is_mov = one && in->mod == 3 && in->rex & 8 &&
		      ((in->op == 0x89 && in->reg == X86_SP && in->rm == X86_BP) ||
		       (in->op == 0x8b && in->reg == X86_BP && in->rm == X86_SP));
	unsigned written = x86_writes(in);

	if (s->realign == CODE_SP_ALIGNED && one && in->op == 0x55 && !(in->rex & 1) &&
	    s->fp_is == CODE_FP_CALLERS) {
		s->realign = CODE_FP_PUSHED;
	} else if (s->realign == CODE_FP_PUSHED && is_mov) {
		s->realign = CODE_REALIGNED;
		set_below(s, true, 0);
	} else if (written >> X86_BP & 1 ||
		   (s->realign == CODE_FP_PUSHED && written >> X86_SP & 1)) {
		leave_frame(s, false);
	}
}

bool code_realign_step(struct code_state *s, const struct x86_insn *in)
{
	bool is_and = in->map == X86_ONE_BYTE && !in->is_vex &&
		      (in->op == 0x81 || in->op == 0x83) && in->mod == 3 && in->rm == X86_SP &&
		      (in->reg & 7) == 4;

	if (s->realign == CODE_REALIGNED)
		return step_frame(s, in);
	if (s->realign)
		step_prologue(s, in);
	else if (is_and && s->has_copy && !s->copy && s->fp_is == CODE_FP_CALLERS && !s->saved)
		s->realign = CODE_SP_ALIGNED;
	return false;
}
