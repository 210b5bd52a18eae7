/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_effect.h"

#include <stdbool.h>

#define WORD 8

static void set_sp(struct code_effect *e, enum code_source from, int64_t by)
{
	bool fits = by == (int32_t)by;

	e->sp.from = fits ? from : FROM_ANYWHERE;
	e->sp.by = fits ? (int32_t)by : 0;
}

static void set_fp(struct code_effect *e, enum code_source from, int32_t by)
{
	e->fp.from = from;
	e->fp.by = by;
}

static bool is_plain_memory(const struct x86_insn *in, unsigned base)
{
	return in->mod != 3 && in->index == X86_NO_REG && !in->is_rip && in->base == base;
}

static bool push_or_pop(struct code_effect *e, const struct x86_insn *in)
{
	unsigned low = (in->op & 7u) | (in->rex & 1u) << 3;
	bool one = in->map == X86_ONE_BYTE, segment = in->map == X86_0F;

	if ((one && ((in->op & 0xf8) == 0x50 || in->op == 0x68 || in->op == 0x6a ||
		     in->op == 0x9c || (in->op == 0xff && (in->reg & 7) == 6))) ||
	    (segment && (in->op & 0xf7) == 0xa0)) {
		set_sp(e, in->opsize ? FROM_ANYWHERE : FROM_ITSELF, -WORD);
		if (one && in->op == 0x50 + X86_BP && low == X86_BP) {
			e->saves_fp = FROM_SLOT_AT_SP;
			e->saves_at = -WORD;
		}
		return true;
	}
	if ((one && ((in->op & 0xf8) == 0x58 || in->op == 0x8f || in->op == 0x9d)) ||
	    (segment && (in->op & 0xf7) == 0xa1)) {
		bool is_reg = one && (in->op & 0xf8) == 0x58;

		set_sp(e, in->opsize || (is_reg && low == X86_SP) ? FROM_ANYWHERE : FROM_ITSELF,
		       WORD);
		if (is_reg && low == X86_BP)
			set_fp(e, FROM_SLOT_AT_SP, 0);
		return true;
	}
	return false;
}

static bool frame(struct code_effect *e, const struct x86_insn *in)
{
	if (in->map != X86_ONE_BYTE || (in->op != 0xc8 && in->op != 0xc9))
		return false;
	if (in->op == 0xc9) {
		set_sp(e, FROM_OTHER, WORD);
		set_fp(e, FROM_SLOT_AT_FP, 0);
		return true;
	}
	/* enter: with a nesting level it copies pointers, which nobody uses. */
	set_fp(e, in->disp ? FROM_ANYWHERE : FROM_OTHER, -WORD);
	set_sp(e, in->disp ? FROM_ANYWHERE : FROM_ITSELF, -WORD - in->imm);
	e->saves_fp = FROM_SLOT_AT_SP;
	e->saves_at = -WORD;
	return true;
}

static bool add(struct code_effect *e, const struct x86_insn *in)
{
	unsigned which = in->reg & 7;

	if (in->map != X86_ONE_BYTE || (in->op != 0x81 && in->op != 0x83) || in->mod != 3 ||
	    in->rm != X86_SP)
		return false;
	if (which == 0 || which == 5)
		set_sp(e, FROM_ITSELF, which ? -in->imm : in->imm);
	else if (which != 7)
		set_sp(e, FROM_ANYWHERE, 0);
	return true;
}

static bool lea(struct code_effect *e, const struct x86_insn *in)
{
	bool of_sp = is_plain_memory(in, X86_SP), of_fp = is_plain_memory(in, X86_BP);

	if (in->map != X86_ONE_BYTE || in->op != 0x8d || !(in->rex & 8))
		return false;
	if (in->reg == X86_SP)
		set_sp(e, of_sp ? FROM_ITSELF : of_fp ? FROM_OTHER : FROM_ANYWHERE, in->disp);
	else if (in->reg == X86_BP)
		set_fp(e, of_fp ? FROM_ITSELF : of_sp ? FROM_OTHER : FROM_ANYWHERE, in->disp);
	else
		return false;
	return true;
}

static bool move(struct code_effect *e, const struct x86_insn *in)
{
	bool stores = in->op == 0x89;
	unsigned to = stores ? in->rm : in->reg, from = stores ? in->reg : in->rm;
	bool of_sp = is_plain_memory(in, X86_SP), of_fp = is_plain_memory(in, X86_BP);

	if (in->map != X86_ONE_BYTE || (!stores && in->op != 0x8b) || !(in->rex & 8))
		return false;
	if (in->mod == 3) {
		if (to == X86_SP)
			set_sp(e, from == X86_BP ? FROM_OTHER : FROM_ANYWHERE, 0);
		else if (to == X86_BP)
			set_fp(e, from == X86_SP ? FROM_OTHER : FROM_ANYWHERE, 0);
		return true;
	}
	if (stores && in->reg == X86_BP && (of_sp || of_fp)) {
		e->saves_fp = of_sp ? FROM_SLOT_AT_SP : FROM_SLOT_AT_FP;
		e->saves_at = in->disp;
	} else if (!stores && in->reg == X86_BP) {
		set_fp(e, of_sp ? FROM_SLOT_AT_SP : of_fp ? FROM_SLOT_AT_FP : FROM_ANYWHERE,
		       in->disp);
	} else if (!stores && in->reg == X86_SP) {
		set_sp(e, FROM_ANYWHERE, 0);
	}
	return true;
}

struct code_effect code_effect_of(const struct x86_insn *in)
{
	struct code_effect e = { 0 };
	unsigned written;

	if (in->flow == X86_CALL || in->flow == X86_CALL_ANY || in->flow == X86_RETURN)
		return e;
	if (!in->is_vex &&
	    (push_or_pop(&e, in) || frame(&e, in) || add(&e, in) || lea(&e, in) || move(&e, in)))
		return e;
	written = x86_writes(in);
	if (written >> X86_SP & 1)
		set_sp(&e, FROM_ANYWHERE, 0);
	if (written >> X86_BP & 1)
		set_fp(&e, FROM_ANYWHERE, 0);
	return e;
}
