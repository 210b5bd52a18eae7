/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF operations computed on made-up registers and memory: two descriptions of one frame agree when they give
 * the same numbers here.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVAL_REGS 128

struct eval {
	uint64_t regs[EVAL_REGS];
	uint64_t pc, pc_reg;	/* the register that is the program counter; EVAL_REGS: none */
};

enum eval_kind {
	EVAL_SAME, EVAL_UNDEFINED,
	EVAL_AT_CFA,		/* stored at CFA + cfa_off */
	EVAL_OTHER,
};

struct eval_value {
	enum eval_kind kind;
	uint64_t value;
	int64_t cfa_off;
};

void eval_init(struct eval *ev, uint64_t pc_reg);
uint64_t eval_memory(uint64_t addr);

/* Value of the expression; false: an operation that is not known here. */
bool eval_ops(const struct eval *ev, const Dwarf_Op *ops, size_t nr, uint64_t cfa, uint64_t *value);

/* Value of what the location description describes. */
bool eval_location(const struct eval *ev, const Dwarf_Op *ops, size_t nr, uint64_t cfa, struct eval_value *out);
