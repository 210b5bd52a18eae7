/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_switch.h"

#include <string.h>

#define MAX_CASES 4096

/* The constant that a register is compared with, plus 1; 0: this is no such compare. */
static uint32_t compare_of(const struct x86_insn *in)
{
	bool is_group = in->op == 0x80 || in->op == 0x81 || in->op == 0x83;
	bool is_cmp = (is_group && (in->reg & 7) == 7) || in->op == 0x3c || in->op == 0x3d;
	uint64_t n = (uint64_t)in->imm;

	if (in->is_vex || in->map != X86_ONE_BYTE || !is_cmp)
		return 0;
	if (in->op == 0x80 || in->op == 0x3c)
		n = (uint8_t)n;
	return n < MAX_CASES ? (uint32_t)n + 1 : 0;
}

/* The MASK + 1 of and $MASK, which limits the cases without a compare; 0: another instruction. */
static uint32_t mask_of(const struct x86_insn *in)
{
	bool is_and =
		in->map == X86_ONE_BYTE && (in->op == 0x83 || in->op == 0x81) && (in->reg & 7) == 4;

	return is_and && !in->is_vex && in->imm > 0 && in->imm < 256 ? (uint32_t)in->imm + 1 : 0;
}

static void step_limit(struct code_switch *sw, const struct x86_insn *in)
{
	uint32_t n = compare_of(in);
	uint8_t condition = in->op & 15;

	if (n) {
		sw->compared = n;
	} else if (in->flow == X86_BRANCH && sw->compared && (condition == 7 || condition == 3)) {
		sw->limit = condition == 7 ? sw->compared : sw->compared - 1;	/* ja, jae */
	} else if ((n = mask_of(in))) {
		sw->limit = n;
	}
}

/*
 * Notes mov or movslq from a table: (base,index,4), or table(,index,8) where addresses are below 2
 * GiB.
 */
static void step_read(struct code_switch *sw, const struct x86_insn *in)
{
	if (in->mod == 3 || in->index == X86_NO_REG)
		return;
	if (in->scale == 4 && !in->disp && in->base != X86_NO_REG &&
	    sw->has_address >> in->base & 1) {
		sw->table = sw->address[in->base];
		sw->entry_size = 4;
	} else if (in->scale == 8 && in->base == X86_NO_REG) {
		sw->table = (uint64_t)(int64_t)in->disp;
		sw->entry_size = 8;
	}
}

void code_switch_step(struct code_switch *sw, const struct x86_insn *in, uint64_t vaddr)
{
	bool is_move = in->map == X86_ONE_BYTE && !in->is_vex && (in->op == 0x63 || in->op == 0x8b);

	step_limit(sw, in);
	if (is_move)
		step_read(sw, in);
	if (sw->has_address)
		sw->has_address &= (uint16_t)~x86_writes(in);
	if (in->map == X86_ONE_BYTE && !in->is_vex && in->op == 0x8d && in->is_rip) {
		sw->address[in->reg & 15] = vaddr + in->len + (uint64_t)(int64_t)in->disp;
		sw->has_address |= (uint16_t)(1u << (in->reg & 15));
	}
}

static bool read_data(const struct code_input *in, uint64_t vaddr, void *out, size_t size)
{
	return in->read_data && in->read_data(in->data_ctx, vaddr, out, size);
}

bool code_switch_target(const struct code_switch *sw, const struct code_input *in,
			const struct x86_insn *jump, uint32_t i, uint64_t *vaddr)
{
	struct code_switch here = *sw;
	int32_t offset;

	if (jump->mod != 3) {
		here.table = 0;
		step_read(&here, jump);
	}
	if (!here.table || i >= here.limit)
		return false;
	if (here.entry_size == 8)
		return read_data(in, here.table + i * 8ull, vaddr, 8);
	if (jump->mod != 3 || !read_data(in, here.table + i * 4ull, &offset, 4))
		return false;
	*vaddr = here.table + (uint64_t)(int64_t)offset;
	return true;
}
