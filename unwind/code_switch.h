/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jump tables of switches, as compilers write them for x86-64: a compare with the highest case, a
 * table of 32-bit offsets from its own address (position-independent code) or of 64-bit addresses,
 * and an indirect jump. Internal to code_flow.c: a code_switch is reset where a path begins and is
 * given every instruction on it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "unwind/code_rows.h"
#include "unwind/x86_insn.h"

struct code_switch {
	uint64_t address[16];		/* the constants in registers, if in has_address */
	uint16_t has_address;		/* a bit for each register */
	uint64_t table;			/* the table that was read last; 0: none */
	uint8_t entry_size;		/* 4: offsets from table; 8: addresses */
	/* What the index was compared with, plus 1, and the number of entries; 0: unknown. */
	uint32_t compared, limit;
};

static inline void code_switch_reset(struct code_switch *sw)
{
	sw->has_address = 0;
	sw->table = 0;
	sw->entry_size = 0;
	sw->compared = sw->limit = 0;
}

/* vaddr: the address of the instruction. */
void code_switch_step(struct code_switch *sw, const struct x86_insn *insn, uint64_t vaddr);

/* Sets the target of case i of an indirect jump; false: no (further) case is known. */
bool code_switch_target(const struct code_switch *sw, const struct code_input *in,
			const struct x86_insn *jump, uint32_t i, uint64_t *vaddr);
