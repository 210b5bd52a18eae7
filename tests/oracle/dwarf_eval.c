/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/oracle/dwarf_eval.h"

#include <dwarf.h>

#define STACK 16

static uint64_t scramble(uint64_t v)
{
	v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
	return v ^ (v >> 31);
}

void eval_init(struct eval *ev, uint64_t pc_reg)
{
	ev->pc_reg = pc_reg;
	for (uint64_t i = 0; i < EVAL_REGS; i++)
		ev->regs[i] = scramble(i + 1);
}

uint64_t eval_memory(uint64_t addr)
{
	return scramble(addr + 0x9e3779b97f4a7c15ull);
}

struct stack {
	uint64_t v[STACK];
	unsigned nr;
	bool bad;
};

static void push(struct stack *s, uint64_t v)
{
	if (s->nr == STACK)
		s->bad = true;
	else
		s->v[s->nr++] = v;
}

static uint64_t pop(struct stack *s)
{
	if (!s->nr) {
		s->bad = true;
		return 0;
	}
	return s->v[--s->nr];
}

static uint64_t read_reg(const struct eval *ev, struct stack *s, uint64_t reg)
{
	s->bad |= reg >= EVAL_REGS;
	if (s->bad)
		return 0;
	return reg == ev->pc_reg ? ev->pc : ev->regs[reg];
}

static void binary(struct stack *s, unsigned atom)
{
	uint64_t b = pop(s), a = pop(s);

	switch (atom) {
	case DW_OP_and: push(s, a & b); break;
	case DW_OP_plus: push(s, a + b); break;
	case DW_OP_minus: push(s, a - b); break;
	case DW_OP_mul: push(s, a * b); break;
	case DW_OP_or: push(s, a | b); break;
	case DW_OP_shl: push(s, b < 64 ? a << b : 0); break;
	case DW_OP_ge: push(s, (int64_t)a >= (int64_t)b); break;
	case DW_OP_lt: push(s, (int64_t)a < (int64_t)b); break;
	default: s->bad = true;
	}
}

static void run_op(const struct eval *ev, struct stack *s, const Dwarf_Op *op, uint64_t cfa)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(s, op->atom - DW_OP_lit0);
		return;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push(s, read_reg(ev, s, op->atom - DW_OP_breg0) + op->number);
		return;
	}
	switch (op->atom) {
	case DW_OP_bregx: push(s, read_reg(ev, s, op->number) + op->number2); break;
	case DW_OP_call_frame_cfa: push(s, cfa); break;
	case DW_OP_plus_uconst: push(s, pop(s) + op->number); break;
	case DW_OP_deref: push(s, eval_memory(pop(s))); break;
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u: case DW_OP_const2s: case DW_OP_const4u:
	case DW_OP_const4s: case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu: case DW_OP_consts:
		push(s, op->number);
		break;
	default: binary(s, op->atom);
	}
}

bool eval_ops(const struct eval *ev, const Dwarf_Op *ops, size_t nr, uint64_t cfa, uint64_t *value)
{
	struct stack s = { .nr = 0 };

	for (size_t i = 0; i < nr && !s.bad; i++)
		run_op(ev, &s, &ops[i], cfa);
	*value = pop(&s);
	return !s.bad;
}

bool eval_location(const struct eval *ev, const Dwarf_Op *ops, size_t nr, uint64_t cfa, struct eval_value *out)
{
	struct stack s = { .nr = 0 };

	out->kind = EVAL_OTHER;
	if (nr == 1 && ops->atom == DW_OP_regx) {
		out->value = read_reg(ev, &s, ops->number);
		return !s.bad;
	}
	if (nr == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31) {
		out->value = read_reg(ev, &s, ops->atom - DW_OP_reg0);
		return !s.bad;
	}
	if (ops[nr - 1].atom == DW_OP_stack_value)
		return eval_ops(ev, ops, nr - 1, cfa, &out->value);
	if (!eval_ops(ev, ops, nr, cfa, &out->value))
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa && (nr == 1 || (nr == 2 && ops[1].atom == DW_OP_plus_uconst))) {
		out->kind = EVAL_AT_CFA;
		out->cfa_off = nr == 2 ? (int64_t)ops[1].number : 0;
	}
	out->value = eval_memory(out->value);
	return true;
}
