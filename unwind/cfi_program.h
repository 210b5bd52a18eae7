/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call frame instructions of a CIE or an FDE (DWARF 5, 6.4.2), run from one location to the
 * next. Only what unwinding needs is kept: the CFA, and where the caller's stack pointer, frame
 * pointer and return address are; all other registers are skipped. Internal to the reading of CFI.
 *
 *	cfi_program_begin(&p, in, cie, bytes, vaddr);
 *	p.watched = register;		to keep one more register, without what CIEs say
 *	while (cfi_program_next(&p, &vaddr))
 *		p.state holds from vaddr on
 *	p.bad: the instructions are damaged at p.vaddr; the states before it are valid
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "unwind/cfi_input.h"

#define CFI_MAX_REMEMBERED 32	/* compilers need 1 or 2 */
#define CFI_NO_REG UINT64_MAX

/* What matters of a machine: DWARF register numbers, and how many of them a rule may name. */
struct cfi_arch {
	uint8_t sp, fp, nr_regs;
	bool ra_in_register;		/* at function entry (arm64's lr), not on the stack */
	bool has_ra_state;		/* pointer authentication: two instructions of its own */
};

const struct cfi_arch *cfi_arch_of(enum cfi_machine machine);

enum cfi_how {
	HOW_DEFAULT = 0,		/* never mentioned */
	HOW_SAME,
	HOW_UNDEFINED,
	HOW_OFFSET,			/* stored at CFA + off; of the CFA itself: reg + off */
	HOW_VAL_OFFSET,			/* is CFA + off */
	HOW_REGISTER,			/* in reg */
	HOW_EXPRESSION,			/* stored where expr says; of the CFA: is what expr says */
	HOW_VAL_EXPRESSION,		/* is what expr says */
};

struct cfi_value {
	enum cfi_how how;
	uint64_t reg;
	int64_t off;
	struct byte_reader expr;	/* bytes of the section */
};

struct cfi_state {
	struct cfi_value cfa, sp, fp, ra;
	struct cfi_value watched;	/* the register that the program was asked to watch */
};

struct cfi_cie {
	uint64_t offset;		/* of its entry in the section */
	uint64_t code_align, ra_reg;
	int64_t data_align;
	uint8_t fde_encoding;
	bool has_augmentation_data, is_signal;
	bool bad;			/* its FDEs cannot be read */
	struct cfi_state initial;
};

struct cfi_program {
	const struct cfi_input *in;
	const struct cfi_arch *arch;
	const struct cfi_cie *cie;
	struct byte_reader r;
	uint64_t vaddr;
	uint64_t watched;		/* number of one more register; CFI_NO_REG: none */
	bool changed, done, bad;
	struct cfi_state state;
	unsigned nr_remembered;
	struct cfi_state remembered[CFI_MAX_REMEMBERED];
};

/* Begins with cie's initial state, which is all zero while the CIE's own instructions run. */
void cfi_program_begin(struct cfi_program *p, const struct cfi_input *in, const struct cfi_cie *cie,
		       struct byte_reader instructions, uint64_t vaddr);

/* Runs to the end of the next stretch with another state; false: no more. vaddr never goes down. */
bool cfi_program_next(struct cfi_program *p, uint64_t *vaddr);
