/* The call frame instructions of one CIE or FDE (DWARF 5, 6.4.2), run to rows. Internal to unwind/cfi.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "unwind/cfi.h"

enum cfi_how { HOW_SAME, HOW_OFFSET, HOW_UNDEFINED, HOW_REGISTER, HOW_EXPRESSION, HOW_VALUE };

struct cfi_reg {			/* where the caller's value of a register is */
	uint8_t how;			/* enum cfi_how */
	int64_t off;			/* HOW_OFFSET: from the CFA; HOW_REGISTER: its number */
	struct byte_reader expr;	/* HOW_EXPRESSION: address of the value */
};

struct cfi_state {
	bool cfa_is_expr;
	uint64_t cfa_reg;
	int64_t cfa_off;
	struct byte_reader cfa_expr;
	struct cfi_reg fp, ra;
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t fde_encoding;
	bool has_augmentation, is_signal, bad;
	struct cfi_state initial;
};

/* What of the machine matters: DWARF numbers of the stack pointer, frame pointer and return address. */
struct cfi_regs {
	uint8_t sp, fp, ra;
	bool ra_in_register;		/* at entry (arm64) instead of on the stack */
};

const struct cfi_regs *cfi_regs_of(enum cfi_machine machine);

typedef void (*cfi_row_fn)(void *ctx, uint64_t vaddr, const struct unwind_rule *rule);

struct cfi_program {
	const struct cfi_regs *regs;
	const struct cfi_cie *cie;
	struct byte_reader instructions;
	uint64_t vaddr, end;		/* of the FDE; both 0 when a CIE's own instructions are run */
	cfi_row_fn row;			/* NULL: none wanted */
	void *ctx;
};

/* Runs the program on *state. False: damaged; rows up to there have been handed out. */
bool cfi_program_run(const struct cfi_program *p, struct cfi_state *state);

struct unwind_rule cfi_rule(const struct cfi_state *s, const struct cfi_regs *regs, bool is_signal);
int64_t cfi_sleb(struct byte_reader *r);
uint64_t cfi_pointer(struct byte_reader *r, uint8_t encoding, const struct cfi_input *in, uint64_t func);
