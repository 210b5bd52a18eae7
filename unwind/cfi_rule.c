/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_rule.h"

#include <string.h>

#include "unwind/cfi_pointer.h"

/* DW_OP of the expressions that compilers, linkers and libc write. */
enum {
	EX_DEREF = 0x06, EX_AND = 0x1a, EX_PLUS = 0x22, EX_PLUS_UCONST = 0x23, EX_SHL = 0x24, EX_GE
	= 0x2a,
	EX_LIT0 = 0x30, EX_BREG0 = 0x70, EX_BREG31 = 0x8f,
};

#define SP (EX_BREG0 + 7)	/* x86-64 */
#define PC (EX_BREG0 + 16)
#define CALL_BYTES 8		/* x86-64: a call pushes the return address right below the CFA */

static bool fits(int64_t v)
{
	return v == (int32_t)v;
}

/*
 * x86-64 PLT stubs share one expression, made by the linker: sp + 8, and 8 more once the stub has
 * pushed its number: sp + 8 + ((pc & 15) >= N) << 3. N depends on the kind of stub.
 */
static bool is_plt(const struct byte_reader *expr, int32_t *n)
{
	static const uint8_t head[] = { SP, 8, PC, 0, EX_LIT0 + 15, EX_AND };
	static const uint8_t tail[] = { EX_GE, EX_LIT0 + 3, EX_SHL, EX_PLUS };
	const uint8_t *p = expr->p;

	if (br_left(expr) != sizeof(head) + 1 + sizeof(tail) || memcmp(p, head, sizeof(head)) ||
	    memcmp(p + sizeof(head) + 1, tail, sizeof(tail)))
		return false;
	*n = p[sizeof(head)] - EX_LIT0;
	return *n >= 0 && *n < 16;
}

/* Reads breg<reg> off; the expression may continue. */
static bool read_breg(struct byte_reader *expr, uint8_t *reg, int64_t *off)
{
	uint8_t op = br_u8(expr);

	*reg = (uint8_t)(op - EX_BREG0);
	*off = br_sleb(expr);
	return !expr->bad && op >= EX_BREG0 && op <= EX_BREG31 && fits(*off);
}

/* Whether the expression is breg<reg> off and nothing else. */
static bool is_breg(struct byte_reader expr, uint8_t *reg, int64_t *off)
{
	return read_breg(&expr, reg, off) && !br_left(&expr);
}

/* Reads an addition: plus_uconst N, or lit<N> plus. */
static bool read_plus(struct byte_reader *expr, uint64_t *n)
{
	uint8_t op = br_u8(expr);

	if (op == EX_PLUS_UCONST) {
		*n = br_uv(expr);
		return !expr->bad;
	}
	*n = (uint64_t)op - EX_LIT0;
	return op >= EX_LIT0 && op <= EX_LIT0 + 31 && br_u8(expr) == EX_PLUS && !expr->bad;
}

/* Reads deref and any number of additions up to the end. */
static bool read_deref(struct byte_reader *expr, int64_t *sum)
{
	*sum = 0;
	if (br_u8(expr) != EX_DEREF)
		return false;
	while (br_left(expr)) {
		uint64_t n;

		if (!read_plus(expr, &n) || n > INT32_MAX - (uint64_t)*sum)
			return false;
		*sum += (int64_t)n;
	}
	return true;
}

enum base { BASE_SP, BASE_FP, BASE_REG };

static bool set_base(struct unwind_rule *rule, const struct cfi_arch *arch, uint64_t reg,
		     bool deref)
{
	static const uint8_t kinds[2][3] = {
		{ [BASE_SP] = CFA_SP, [BASE_FP] = CFA_FP, [BASE_REG] = CFA_REG },
		{ [BASE_SP] = CFA_DEREF_SP, [BASE_FP] = CFA_DEREF_FP, [BASE_REG] = CFA_DEREF_REG },
	};
	enum base base = reg == arch->sp ? BASE_SP : reg == arch->fp ? BASE_FP : BASE_REG;

	if (reg >= arch->nr_regs)
		return false;
	rule->cfa = kinds[deref][base];
	rule->reg = base == BASE_REG ? (uint8_t)reg : 0;
	return true;
}

static bool cfa_by_expression(struct byte_reader expr, const struct cfi_arch *arch,
			      struct unwind_rule *rule)
{
	int64_t off, sum = 0;
	bool deref;
	uint8_t reg;

	if (!arch->ra_in_register && is_plt(&expr, &rule->aux)) {
		rule->cfa = CFA_PLT;
		return true;
	}
	if (!read_breg(&expr, &reg, &off))
		return false;
	deref = br_left(&expr);
	if (deref && !read_deref(&expr, &sum))
		return false;
	rule->cfa_off = (int32_t)off;
	rule->aux = (int32_t)sum;
	return set_base(rule, arch, reg, deref);
}

static bool find_cfa(const struct cfi_value *cfa, const struct cfi_arch *arch,
		     struct unwind_rule *rule)
{
	if (cfa->how == HOW_EXPRESSION)
		return cfa_by_expression(cfa->expr, arch, rule);
	if (cfa->how != HOW_OFFSET || !fits(cfa->off))
		return false;
	rule->cfa_off = (int32_t)cfa->off;
	return set_base(rule, arch, cfa->reg, false);
}

/*
 * The unwinder takes the CFA for the caller's stack pointer. Code that switches stacks says
 * otherwise.
 */
static bool is_sp_cfa(const struct cfi_value *sp)
{
	return sp->how == HOW_DEFAULT || (sp->how == HOW_VAL_OFFSET && !sp->off);
}

/*
 * Finds where a value is stored, from the CFA, if the rule's CFA counts from the same register as
 * the expression.
 */
static bool stored_at(const struct cfi_value *v, const struct cfi_arch *arch,
		      const struct unwind_rule *rule, int64_t *off)
{
	uint8_t reg;

	if (v->how == HOW_OFFSET) {
		*off = v->off;
		return fits(*off);
	}
	if (v->how != HOW_EXPRESSION || !is_breg(v->expr, &reg, off))
		return false;
	*off -= rule->cfa_off;
	return fits(*off) && ((rule->cfa == CFA_SP && reg == arch->sp) ||
			      (rule->cfa == CFA_FP && reg == arch->fp));
}

static bool ra_in_register(struct unwind_rule *rule, const struct cfi_arch *arch, uint64_t reg)
{
	if (reg >= arch->nr_regs || rule->cfa == CFA_REG || rule->cfa == CFA_DEREF_REG)
		return false;	/* there is one register field for both */
	rule->ra = RA_REG;
	rule->reg = (uint8_t)reg;
	return true;
}

static bool find_ra(const struct cfi_value *ra, const struct cfi_cie *cie,
		    const struct cfi_arch *arch, struct unwind_rule *rule)
{
	int64_t off;

	if (ra->how == HOW_REGISTER)
		return ra_in_register(rule, arch, ra->reg);
	if (ra->how == HOW_DEFAULT || ra->how == HOW_SAME)
		return arch->ra_in_register && ra_in_register(rule, arch, cie->ra_reg);
	if (!stored_at(ra, arch, rule, &off))
		return false;
	/*
	 * A place below the stack pointer is overwritten by the next signal. So the CFI is wrong
	 * (some JITs), and this is no outermost frame.
	 */
	if (rule->cfa == CFA_SP && rule->cfa_off + off < 0)
		return false;
	if (off == -CALL_BYTES)
		return true;
	if (rule->cfa != CFA_SP && rule->cfa != CFA_FP && rule->cfa != CFA_REG)
		return false;	/* aux is taken */
	rule->ra = RA_CFA_OFF;
	rule->aux = (int32_t)off;
	return true;
}

/* A frame pointer that cannot be followed is lost, but the frame itself need not be. */
static void find_fp(const struct cfi_value *fp, const struct cfi_arch *arch,
		    struct unwind_rule *rule)
{
	int64_t off;
	uint8_t reg;

	if (fp->how == HOW_DEFAULT || fp->how == HOW_SAME) {
		rule->fp = FP_SAME;
	} else if (stored_at(fp, arch, rule, &off)) {
		rule->fp = FP_CFA;
		rule->fp_off = (int32_t)off;
	} else if (fp->how == HOW_EXPRESSION && is_breg(fp->expr, &reg, &off) && reg == arch->fp) {
		rule->fp = FP_DEREF_FP;
		rule->fp_off = (int32_t)off;
	} else {
		rule->fp = FP_UNDEFINED;
	}
}

/*
 * Whether this is a signal trampoline. On x86-64 the mark counts only if the program counter is
 * where the kernel stores it in the ucontext, because other code (Wine's system call dispatcher)
 * uses the same mark for frames of another layout.
 */
static bool is_signal_frame(const struct cfi_state *s, const struct cfi_cie *cie,
			    const struct cfi_arch *arch)
{
	static const uint8_t pc_in_ucontext[] = { SP, 0xa8, 0x01 };	/* sp + 168 */

	if (!cie->is_signal || arch->ra_in_register)
		return cie->is_signal;
	return s->ra.how == HOW_EXPRESSION && br_left(&s->ra.expr) == sizeof(pc_in_ucontext) &&
	       !memcmp(s->ra.expr.p, pc_in_ucontext, sizeof(pc_in_ucontext));
}

struct unwind_rule cfi_rule(const struct cfi_state *s, const struct cfi_cie *cie,
			    const struct cfi_arch *arch)
{
	struct unwind_rule rule = { 0 };

	if (s->ra.how == HOW_UNDEFINED)
		return (struct unwind_rule){ .cfa = CFA_ROOT };
	if (is_signal_frame(s, cie, arch))
		return (struct unwind_rule){ .cfa = CFA_SIGNAL };
	if (!find_cfa(&s->cfa, arch, &rule) || !is_sp_cfa(&s->sp) ||
	    !find_ra(&s->ra, cie, arch, &rule))
		return (struct unwind_rule){ .cfa = CFA_UNSUPPORTED };
	find_fp(&s->fp, arch, &rule);
	return rule;
}
