#include "unwind/cfi_program.h"

#include <string.h>

#define MAX_REMEMBERED 32

/* DW_CFA_ */
enum {
	OP_ADVANCE = 1, OP_OFFSET, OP_RESTORE,	/* in the two top bits */
	OP_NOP = 0, OP_SET_LOC, OP_ADVANCE1, OP_ADVANCE2, OP_ADVANCE4, OP_OFFSET_EXTENDED, OP_RESTORE_EXTENDED,
	OP_UNDEFINED, OP_SAME_VALUE, OP_REGISTER, OP_REMEMBER, OP_RESTORE_STATE, OP_DEF_CFA, OP_DEF_CFA_REGISTER,
	OP_DEF_CFA_OFFSET, OP_DEF_CFA_EXPRESSION, OP_EXPRESSION, OP_OFFSET_EXTENDED_SF, OP_DEF_CFA_SF,
	OP_DEF_CFA_OFFSET_SF, OP_VAL_OFFSET, OP_VAL_OFFSET_SF, OP_VAL_EXPRESSION,
	OP_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c, OP_AARCH64_NEGATE_RA_STATE = 0x2d, OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET = 0x2f,
};

/* DW_OP_ of the expressions that compilers and linkers emit here. */
enum {
	EXPR_DEREF = 0x06, EXPR_PLUS_UCONST = 0x23, EXPR_PLUS = 0x22, EXPR_AND = 0x1a, EXPR_GE = 0x2a, EXPR_SHL = 0x24,
	EXPR_LIT0 = 0x30, EXPR_BREG0 = 0x70,
};

const struct cfi_regs *cfi_regs_of(enum cfi_machine machine)
{
	static const struct cfi_regs regs[] = {
		[CFI_X86_64] = { .sp = 7, .fp = 6, .ra = 16, .ra_in_register = false },
		[CFI_AARCH64] = { .sp = 31, .fp = 29, .ra = 30, .ra_in_register = true },
	};

	return &regs[machine];
}

int64_t cfi_sleb(struct byte_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = br_u8(r);

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if (b & 0x40 && shift + 7 < 64)
			v |= ~0ull << (shift + 7);
		return (int64_t)v;
	}
	r->bad = true;
	return 0;
}

/* ---- rules ---- */

static bool fits(int64_t v)
{
	return v == (int32_t)v;
}

/* breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl, plus: sp + 8 + ((pc & 15) >= N) * 8. N differs by linker. */
static bool is_plt_expression(const struct byte_reader *expr, int32_t *n)
{
	static const uint8_t head[] = { 0x77, 8, 0x80, 0, 0x3f, EXPR_AND }, tail[] = { EXPR_GE, 0x33, EXPR_SHL, EXPR_PLUS };
	const uint8_t *p = expr->p;

	if (br_left(expr) != sizeof(head) + 1 + sizeof(tail) || memcmp(p, head, sizeof(head)) ||
	    memcmp(p + sizeof(head) + 1, tail, sizeof(tail)))
		return false;
	*n = p[sizeof(head)] - EXPR_LIT0;
	return *n >= 0 && *n < 16;
}

/* bregN off, deref, then any number of plus_uconst: *(reg + off) + sum. */
static bool is_deref_expression(struct byte_reader expr, uint8_t *reg, int64_t *off, int64_t *add)
{
	uint8_t op = br_u8(&expr);

	if (op < EXPR_BREG0 || op > EXPR_BREG0 + 31)
		return false;
	*reg = op - EXPR_BREG0;
	*off = cfi_sleb(&expr);
	*add = 0;
	if (br_u8(&expr) != EXPR_DEREF)
		return false;
	while (br_left(&expr) && !expr.bad) {
		if (br_u8(&expr) != EXPR_PLUS_UCONST)
			return false;
		*add += (int64_t)br_uv(&expr);
	}
	return !expr.bad && fits(*off) && fits(*add);
}

static bool cfa_of_expression(const struct cfi_state *s, const struct cfi_regs *regs, struct unwind_rule *rule)
{
	int64_t off, add;
	uint8_t reg;

	if (regs->ra == 16 && is_plt_expression(&s->cfa_expr, &rule->aux)) {
		rule->cfa = CFA_PLT;
		return true;
	}
	if (!is_deref_expression(s->cfa_expr, &reg, &off, &add))
		return false;
	rule->cfa = reg == regs->sp ? CFA_DEREF_SP : reg == regs->fp ? CFA_DEREF_FP : CFA_DEREF_REG;
	rule->reg = rule->cfa == CFA_DEREF_REG ? reg : 0;
	rule->cfa_off = (int32_t)off;
	rule->aux = (int32_t)add;
	return true;
}

static bool cfa_of(const struct cfi_state *s, const struct cfi_regs *regs, struct unwind_rule *rule)
{
	if (s->cfa_is_expr)
		return cfa_of_expression(s, regs, rule);
	if (!fits(s->cfa_off) || s->cfa_reg > 31)
		return false;
	rule->cfa = s->cfa_reg == regs->sp ? CFA_SP : s->cfa_reg == regs->fp ? CFA_FP : CFA_REG;
	rule->reg = rule->cfa == CFA_REG ? (uint8_t)s->cfa_reg : 0;
	rule->cfa_off = (int32_t)s->cfa_off;
	return true;
}

static bool ra_in(struct unwind_rule *rule, uint64_t reg)
{
	if (reg > 31 || rule->cfa == CFA_REG || rule->cfa == CFA_DEREF_REG)
		return false;	/* one register field for both */
	rule->ra = RA_REG;
	rule->reg = (uint8_t)reg;
	return true;
}

static bool ra_of(const struct cfi_state *s, const struct cfi_regs *regs, struct unwind_rule *rule)
{
	switch ((enum cfi_how)s->ra.how) {
	case HOW_SAME:
		return regs->ra_in_register && ra_in(rule, regs->ra);
	case HOW_REGISTER:
		return ra_in(rule, (uint64_t)s->ra.off);
	case HOW_OFFSET:
		/* Below the stack pointer there is nothing to be trusted. */
		if (!fits(s->ra.off) || (rule->cfa == CFA_SP && rule->cfa_off + s->ra.off < 0))
			return false;
		if (s->ra.off == -8)
			return true;
		if (rule->cfa != CFA_SP && rule->cfa != CFA_FP && rule->cfa != CFA_REG)
			return false;
		rule->ra = RA_CFA_OFF;
		rule->aux = (int32_t)s->ra.off;
		return true;
	case HOW_UNDEFINED:
	case HOW_EXPRESSION:
	case HOW_VALUE:
		break;
	}
	return false;
}

static void fp_of(const struct cfi_state *s, const struct cfi_regs *regs, struct unwind_rule *rule)
{
	struct byte_reader expr = s->fp.expr;
	int64_t off;

	rule->fp = FP_UNDEFINED;
	if (s->fp.how == HOW_SAME) {
		rule->fp = FP_SAME;
	} else if (s->fp.how == HOW_OFFSET && fits(s->fp.off)) {
		rule->fp = FP_CFA;
		rule->fp_off = (int32_t)s->fp.off;
	} else if (s->fp.how == HOW_EXPRESSION && br_u8(&expr) == EXPR_BREG0 + regs->fp) {
		off = cfi_sleb(&expr);
		if (!br_left(&expr) && !expr.bad && fits(off)) {
			rule->fp = FP_DEREF_FP;
			rule->fp_off = (int32_t)off;
		}
	}
}

struct unwind_rule cfi_rule(const struct cfi_state *s, const struct cfi_regs *regs, bool is_signal)
{
	struct unwind_rule rule = { 0 };

	if (is_signal)
		return (struct unwind_rule){ .cfa = CFA_SIGNAL };
	if (s->ra.how == HOW_UNDEFINED)
		return (struct unwind_rule){ .cfa = CFA_ROOT };
	if (!cfa_of(s, regs, &rule) || !ra_of(s, regs, &rule))
		return (struct unwind_rule){ .cfa = CFA_UNSUPPORTED };
	fp_of(s, regs, &rule);
	return rule;
}

/* ---- instructions ---- */

struct machine {
	const struct cfi_program *p;
	struct cfi_state *s;
	struct byte_reader r;
	uint64_t loc;
	struct cfi_state remembered[MAX_REMEMBERED];
	unsigned nr_remembered;
	struct unwind_rule last;
	bool has_last, bad;
};

static struct cfi_reg *tracked(struct machine *m, struct cfi_state *s, uint64_t reg)
{
	return reg == m->p->regs->fp ? &s->fp : reg == m->p->regs->ra ? &s->ra : NULL;
}

static void set(struct machine *m, uint64_t reg, enum cfi_how how, int64_t off)
{
	struct cfi_reg *g = tracked(m, m->s, reg);

	if (g)
		*g = (struct cfi_reg){ .how = (uint8_t)how, .off = off };
}

static void set_expr(struct machine *m, uint64_t reg, enum cfi_how how)
{
	struct cfi_reg *g = tracked(m, m->s, reg);
	struct byte_reader expr = br_sub(&m->r, br_uv(&m->r));

	if (g)
		*g = (struct cfi_reg){ .how = (uint8_t)how, .expr = expr };
}

static void restore(struct machine *m, uint64_t reg)
{
	struct cfi_reg *g = tracked(m, m->s, reg);

	if (g)
		*g = *tracked(m, (struct cfi_state *)&m->p->cie->initial, reg);
}

static void emit(struct machine *m)
{
	struct unwind_rule rule;

	if (!m->p->row || m->loc >= m->p->end)
		return;
	rule = cfi_rule(m->s, m->p->regs, m->p->cie->is_signal);
	if (m->has_last && !memcmp(&rule, &m->last, sizeof(rule)))
		return;
	m->last = rule;
	m->has_last = true;
	m->p->row(m->p->ctx, m->loc, &rule);
}

static void advance(struct machine *m, uint64_t delta)
{
	if (!delta)
		return;
	emit(m);
	if (__builtin_mul_overflow(delta, m->p->cie->code_align, &delta) || __builtin_add_overflow(m->loc, delta, &m->loc))
		m->bad = true;
}

static void def_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->s->cfa_is_expr = false;
	m->s->cfa_reg = reg;
	m->s->cfa_off = off;
}

static int64_t factored(struct machine *m, int64_t v)
{
	int64_t out;

	if (__builtin_mul_overflow(v, m->p->cie->data_align, &out))
		m->bad = true;
	return m->bad ? 0 : out;
}

static void remember(struct machine *m)
{
	if (m->nr_remembered < MAX_REMEMBERED)
		m->remembered[m->nr_remembered++] = *m->s;
	else
		m->bad = true;
}

static void restore_state(struct machine *m)
{
	if (m->nr_remembered)
		*m->s = m->remembered[--m->nr_remembered];
	else
		m->bad = true;
}

/* The instructions about registers. False: not one of them. */
static bool register_instruction(struct machine *m, uint8_t op)
{
	struct byte_reader *r = &m->r;
	uint64_t reg;

	switch (op) {
	case OP_OFFSET_EXTENDED: reg = br_uv(r); set(m, reg, HOW_OFFSET, factored(m, (int64_t)br_uv(r))); return true;
	case OP_OFFSET_EXTENDED_SF: reg = br_uv(r); set(m, reg, HOW_OFFSET, factored(m, cfi_sleb(r))); return true;
	case OP_GNU_NEGATIVE_OFFSET: reg = br_uv(r); set(m, reg, HOW_OFFSET, factored(m, -(int64_t)br_uv(r))); return true;
	case OP_RESTORE_EXTENDED: restore(m, br_uv(r)); return true;
	case OP_UNDEFINED: set(m, br_uv(r), HOW_UNDEFINED, 0); return true;
	case OP_SAME_VALUE: set(m, br_uv(r), HOW_SAME, 0); return true;
	case OP_REGISTER: reg = br_uv(r); set(m, reg, HOW_REGISTER, (int64_t)br_uv(r)); return true;
	case OP_EXPRESSION: reg = br_uv(r); set_expr(m, reg, HOW_EXPRESSION); return true;
	case OP_VAL_EXPRESSION: reg = br_uv(r); set_expr(m, reg, HOW_VALUE); return true;
	case OP_VAL_OFFSET: reg = br_uv(r); br_uv(r); set(m, reg, HOW_VALUE, 0); return true;
	case OP_VAL_OFFSET_SF: reg = br_uv(r); cfi_sleb(r); set(m, reg, HOW_VALUE, 0); return true;
	}
	return false;
}

static bool cfa_instruction(struct machine *m, uint8_t op)
{
	struct byte_reader *r = &m->r;
	uint64_t reg;

	switch (op) {
	case OP_DEF_CFA: reg = br_uv(r); def_cfa(m, reg, (int64_t)br_uv(r)); return true;
	case OP_DEF_CFA_SF: reg = br_uv(r); def_cfa(m, reg, factored(m, cfi_sleb(r))); return true;
	case OP_DEF_CFA_REGISTER: def_cfa(m, br_uv(r), m->s->cfa_off); return true;
	case OP_DEF_CFA_OFFSET: def_cfa(m, m->s->cfa_reg, (int64_t)br_uv(r)); return true;
	case OP_DEF_CFA_OFFSET_SF: def_cfa(m, m->s->cfa_reg, factored(m, cfi_sleb(r))); return true;
	case OP_DEF_CFA_EXPRESSION:
		m->s->cfa_is_expr = true;
		m->s->cfa_expr = br_sub(r, br_uv(r));
		return true;
	}
	return false;
}

static void instruction(struct machine *m, uint8_t op)
{
	struct byte_reader *r = &m->r;

	switch (op) {
	case OP_NOP: case OP_AARCH64_NEGATE_RA_STATE: case OP_AARCH64_NEGATE_RA_STATE_WITH_PC: break;
	case OP_ADVANCE1: advance(m, br_u8(r)); break;
	case OP_ADVANCE2: advance(m, br_u16(r)); break;
	case OP_ADVANCE4: advance(m, br_u32(r)); break;
	case OP_REMEMBER: remember(m); break;
	case OP_RESTORE_STATE: restore_state(m); break;
	case OP_GNU_ARGS_SIZE: br_uv(r); break;
	default:
		if (!register_instruction(m, op) && !cfa_instruction(m, op))
			m->bad = true;	/* set_loc too: no one emits it into .eh_frame */
	}
}

bool cfi_program_run(const struct cfi_program *p, struct cfi_state *state)
{
	struct machine m;

	m.p = p;
	m.s = state;
	m.r = p->instructions;
	m.loc = p->vaddr;
	m.nr_remembered = 0;
	m.has_last = m.bad = false;
	while (br_left(&m.r) && !m.r.bad && !m.bad) {
		uint8_t op = br_u8(&m.r), low = op & 0x3f;

		switch (op >> 6) {
		case OP_ADVANCE: advance(&m, low); break;
		case OP_OFFSET: set(&m, low, HOW_OFFSET, factored(&m, (int64_t)br_uv(&m.r))); break;
		case OP_RESTORE: restore(&m, low); break;
		default: instruction(&m, op);
		}
	}
	if (m.bad || m.r.bad)
		return false;
	emit(&m);
	return true;
}
