/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_program.h"

#include "unwind/cfi_pointer.h"

/* DW_CFA; the first three have an operand in their low six bits. */
enum {
	OP_ADVANCE_LOC = 0x40, OP_OFFSET = 0x80, OP_RESTORE = 0xc0, OP_LOW_BITS = 0x3f,

	OP_NOP = 0x00, OP_SET_LOC, OP_ADVANCE_LOC1, OP_ADVANCE_LOC2, OP_ADVANCE_LOC4,
	OP_OFFSET_EXTENDED,
	OP_RESTORE_EXTENDED, OP_UNDEFINED, OP_SAME_VALUE, OP_REGISTER, OP_REMEMBER_STATE,
	OP_RESTORE_STATE,
	OP_DEF_CFA, OP_DEF_CFA_REGISTER, OP_DEF_CFA_OFFSET, OP_DEF_CFA_EXPRESSION, OP_EXPRESSION,
	OP_OFFSET_EXTENDED_SF, OP_DEF_CFA_SF, OP_DEF_CFA_OFFSET_SF, OP_VAL_OFFSET, OP_VAL_OFFSET_SF,
	OP_VAL_EXPRESSION,
	OP_MIPS_ADVANCE_LOC8 = 0x1d, OP_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	OP_AARCH64_NEGATE_RA_STATE = 0x2d, OP_GNU_ARGS_SIZE = 0x2e, OP_GNU_NEGATIVE_OFFSET_EXTENDED
	= 0x2f,
};

const struct cfi_arch *cfi_arch_of(enum cfi_machine machine)
{
	static const struct cfi_arch archs[] = {
		[CFI_X86_64] = { .sp = 7, .fp = 6, .nr_regs = 16 },
		[CFI_AARCH64] = { .sp = 31,
				  .fp = 29,
				  .nr_regs = 32,
				  .ra_in_register = true,
				  .has_ra_state = true },
	};

	return &archs[machine];
}

/* ---- what instructions do ---- */

static void advance(struct cfi_program *p, uint64_t delta)
{
	if (__builtin_mul_overflow(delta, p->cie->code_align, &delta) ||
	    __builtin_add_overflow(p->vaddr, delta, &p->vaddr))
		p->bad = true;
}

/* The place in state of the register with this number; NULL: it does not matter. */
static struct cfi_value *place(const struct cfi_program *p, struct cfi_state *state, uint64_t reg)
{
	if (reg == p->arch->fp)
		return &state->fp;
	if (reg == p->cie->ra_reg)
		return &state->ra;
	if (reg == p->arch->sp)
		return &state->sp;
	return reg == p->watched ? &state->watched : NULL;
}

static void set(struct cfi_program *p, uint64_t reg, struct cfi_value value)
{
	struct cfi_value *v = place(p, &p->state, reg);

	if (!v)
		return;
	*v = value;
	p->changed = true;
}

static void set_cfa(struct cfi_program *p, uint64_t reg, int64_t off)
{
	p->state.cfa = (struct cfi_value){ .how = HOW_OFFSET, .reg = reg, .off = off };
	p->changed = true;
}

static void restore(struct cfi_program *p, uint64_t reg)
{
	/* only read */
	const struct cfi_value *v = place(p, (struct cfi_state *)&p->cie->initial, reg);

	if (v)
		set(p, reg, *v);
}

static int64_t factored(struct cfi_program *p, int64_t v)
{
	int64_t off = 0;

	if (__builtin_mul_overflow(v, p->cie->data_align, &off))
		p->bad = true;
	return off;
}

/* Reads an unsigned operand that is used as a signed number. */
static int64_t operand(struct cfi_program *p)
{
	uint64_t v = br_uv(&p->r);

	if (v > INT64_MAX) {
		p->bad = true;
		return 0;
	}
	return (int64_t)v;
}

static int64_t factored_operand(struct cfi_program *p)
{
	return factored(p, operand(p));
}

static int64_t signed_factored_operand(struct cfi_program *p)
{
	return factored(p, br_sleb(&p->r));
}

static struct byte_reader block(struct cfi_program *p)
{
	uint64_t len = br_uv(&p->r);

	return br_sub(&p->r, len);
}

/* ---- the instructions ---- */

static void op_nop(struct cfi_program *p)
{
	(void)p;
}

static void op_set_loc(struct cfi_program *p)
{
	uint64_t vaddr = cfi_pointer(&p->r, p->cie->fde_encoding, p->in);

	if (vaddr < p->vaddr)
		p->bad = true;
	else
		p->vaddr = vaddr;
}

static void op_advance1(struct cfi_program *p) { advance(p, br_u8(&p->r)); }
static void op_advance2(struct cfi_program *p) { advance(p, br_u16(&p->r)); }
static void op_advance4(struct cfi_program *p) { advance(p, br_u32(&p->r)); }
static void op_advance8(struct cfi_program *p) { advance(p, br_u64(&p->r)); }

static void op_offset_extended(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set(p, reg, (struct cfi_value){ .how = HOW_OFFSET, .off = factored_operand(p) });
}

static void op_offset_extended_sf(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set(p, reg, (struct cfi_value){ .how = HOW_OFFSET, .off = signed_factored_operand(p) });
}

static void op_negative_offset_extended(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);
	int64_t off = factored(p, -operand(p));

	set(p, reg, (struct cfi_value){ .how = HOW_OFFSET, .off = off });
}

static void op_val_offset(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set(p, reg, (struct cfi_value){ .how = HOW_VAL_OFFSET, .off = factored_operand(p) });
}

static void op_val_offset_sf(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set(p, reg, (struct cfi_value){ .how = HOW_VAL_OFFSET, .off = signed_factored_operand(p) });
}

static void op_restore_extended(struct cfi_program *p) { restore(p, br_uv(&p->r)); }

static void op_undefined(struct cfi_program *p)
{
	set(p, br_uv(&p->r), (struct cfi_value){ .how = HOW_UNDEFINED });
}

static void op_same_value(struct cfi_program *p)
{
	set(p, br_uv(&p->r), (struct cfi_value){ .how = HOW_SAME });
}

static void op_register(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set(p, reg, (struct cfi_value){ .how = HOW_REGISTER, .reg = br_uv(&p->r) });
}

static void op_expression(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set(p, reg, (struct cfi_value){ .how = HOW_EXPRESSION, .expr = block(p) });
}

static void op_val_expression(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set(p, reg, (struct cfi_value){ .how = HOW_VAL_EXPRESSION, .expr = block(p) });
}

/* The CFA is part of the remembered state, although DWARF 2 said otherwise. */
static void op_remember_state(struct cfi_program *p)
{
	if (p->nr_remembered < CFI_MAX_REMEMBERED)
		p->remembered[p->nr_remembered++] = p->state;
	else
		p->bad = true;
}

static void op_restore_state(struct cfi_program *p)
{
	if (!p->nr_remembered) {
		p->bad = true;
		return;
	}
	p->state = p->remembered[--p->nr_remembered];
	p->changed = true;
}

static void op_def_cfa(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set_cfa(p, reg, operand(p));
}

static void op_def_cfa_sf(struct cfi_program *p)
{
	uint64_t reg = br_uv(&p->r);

	set_cfa(p, reg, signed_factored_operand(p));
}

/*
 * This instruction and the next two change one half of a CFA: its register or its offset. An
 * expression for the CFA does not clear the halves: assemblers know only registers and offsets, and
 * hand-written code (libgcrypt) goes back to them with def_cfa_register.
 */
static void op_def_cfa_register(struct cfi_program *p)
{
	p->bad |= p->state.cfa.how == HOW_DEFAULT;
	set_cfa(p, br_uv(&p->r), p->state.cfa.off);
}

static void op_def_cfa_offset(struct cfi_program *p)
{
	p->bad |= p->state.cfa.how == HOW_DEFAULT;
	set_cfa(p, p->state.cfa.reg, operand(p));
}

static void op_def_cfa_offset_sf(struct cfi_program *p)
{
	p->bad |= p->state.cfa.how == HOW_DEFAULT;
	set_cfa(p, p->state.cfa.reg, signed_factored_operand(p));
}

static void op_def_cfa_expression(struct cfi_program *p)
{
	p->state.cfa.how = HOW_EXPRESSION;
	p->state.cfa.expr = block(p);
	p->changed = true;
}

static void op_args_size(struct cfi_program *p) { br_uv(&p->r); }

/*
 * Whether the return address carries an authentication code does not matter: the unwinder strips it
 * either way.
 */
static void op_negate_ra_state(struct cfi_program *p)
{
	p->bad |= !p->arch->has_ra_state;
}

typedef void (*op_fn)(struct cfi_program *p);

static const op_fn ops[OP_LOW_BITS + 1] = {
	[OP_NOP] = op_nop,
	[OP_SET_LOC] = op_set_loc,
	[OP_ADVANCE_LOC1] = op_advance1,
	[OP_ADVANCE_LOC2] = op_advance2,
	[OP_ADVANCE_LOC4] = op_advance4,
	[OP_MIPS_ADVANCE_LOC8] = op_advance8,
	[OP_OFFSET_EXTENDED] = op_offset_extended,
	[OP_OFFSET_EXTENDED_SF] = op_offset_extended_sf,
	[OP_GNU_NEGATIVE_OFFSET_EXTENDED] = op_negative_offset_extended,
	[OP_VAL_OFFSET] = op_val_offset,
	[OP_VAL_OFFSET_SF] = op_val_offset_sf,
	[OP_RESTORE_EXTENDED] = op_restore_extended,
	[OP_UNDEFINED] = op_undefined,
	[OP_SAME_VALUE] = op_same_value,
	[OP_REGISTER] = op_register,
	[OP_EXPRESSION] = op_expression,
	[OP_VAL_EXPRESSION] = op_val_expression,
	[OP_REMEMBER_STATE] = op_remember_state,
	[OP_RESTORE_STATE] = op_restore_state,
	[OP_DEF_CFA] = op_def_cfa,
	[OP_DEF_CFA_SF] = op_def_cfa_sf,
	[OP_DEF_CFA_REGISTER] = op_def_cfa_register,
	[OP_DEF_CFA_OFFSET] = op_def_cfa_offset,
	[OP_DEF_CFA_OFFSET_SF] = op_def_cfa_offset_sf,
	[OP_DEF_CFA_EXPRESSION] = op_def_cfa_expression,
	[OP_GNU_ARGS_SIZE] = op_args_size,
	[OP_AARCH64_NEGATE_RA_STATE] = op_negate_ra_state,
	[OP_AARCH64_NEGATE_RA_STATE_WITH_PC] = op_negate_ra_state,
};

static void run_one(struct cfi_program *p)
{
	uint8_t op = br_u8(&p->r), low = op & OP_LOW_BITS;

	if (op >= OP_RESTORE)
		restore(p, low);
	else if (op >= OP_OFFSET)
		set(p, low, (struct cfi_value){ .how = HOW_OFFSET, .off = factored_operand(p) });
	else if (op >= OP_ADVANCE_LOC)
		advance(p, low);
	else if (ops[op])
		ops[op](p);
	else
		p->bad = true;
}

void cfi_program_begin(struct cfi_program *p, const struct cfi_input *in, const struct cfi_cie *cie,
		       struct byte_reader instructions, uint64_t vaddr)
{
	p->in = in;
	p->arch = cfi_arch_of(in->machine);
	p->cie = cie;
	p->r = instructions;
	p->vaddr = vaddr;
	p->watched = CFI_NO_REG;
	p->changed = true;
	p->done = p->bad = false;
	p->state = cie->initial;
	p->nr_remembered = 0;
}

bool cfi_program_next(struct cfi_program *p, uint64_t *vaddr)
{
	while (!p->done) {
		uint64_t at = p->vaddr;

		while (p->vaddr == at && br_left(&p->r) && !p->bad)
			run_one(p);
		p->bad |= p->r.bad;
		if (p->bad)
			p->vaddr = at;
		p->done = p->bad || !br_left(&p->r);
		if (p->changed && !p->bad) {
			p->changed = false;
			*vaddr = at;
			return true;
		}
	}
	return false;
}
