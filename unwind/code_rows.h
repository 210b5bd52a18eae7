/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rows for x86-64 code that has no call frame information, by reading the code: every path
 * is followed from the starts of functions, and at each instruction the distance of the stack
 * pointer from the CFA is known.
 *
 *	f: push %rbx		8 at f
 *	   sub $16, %rsp	16
 *	   call g		32
 *	   add $16, %rsp	32
 *	   pop %rbx		16
 *	   ret			8
 *
 * Nothing is assumed: where paths disagree, or where it is not known how control gets there, the
 * code has no rows. Every rule is marked RULE_GUESSED (row.h). The parts, in the order in which
 * they work: code_starts.h (where functions begin), code_flow.h (follows paths; code_state.h is
 * what is known at one instruction, code_switch.h finds the cases of a switch), code_trial.c (code
 * that no path led to).
 *
 * The input is bytes, not files. They are foreign: nothing is read outside them, work and memory
 * are bounded by a multiple of their size. Fuzzed (tests/fuzz/fuzz_code_rows.c).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"

#define CODE_MAX_BYTES (1u << 28)	/* of code in one input */

/* Virtual addresses. */
struct code_range {
	uint64_t begin, end;
};

struct code_input {
	const uint8_t *code;		/* one stretch of executable bytes */
	size_t len;
	uint64_t vaddr;			/* of the first */
	/* Reads bytes of switch tables; false: there are none at vaddr. NULL: no tables. */
	bool (*read_data)(void *ctx, uint64_t vaddr, void *out, size_t size);
	void *data_ctx;
	/* All of these ascend. Ranges do not overlap. */
	const struct code_range *gaps;	/* parts to read; the others have call frame information */
	size_t nr_gaps;
	const struct code_range *stubs;	/* sections of linkage stubs (PLT) */
	size_t nr_stubs;
	const uint64_t *starts;		/* known functions */
	size_t nr_starts;
	const uint64_t *noreturn;	/* functions that never return, and slots with one */
	size_t nr_noreturn;
	uint64_t entry;			/* of the program (e_entry); 0: none */
	/*
	 * Where code that no path led to is tried: the rest is read for what it tells of this. That
	 * takes three quarters of the time. End 0: everywhere.
	 */
	struct code_range tried;
	const atomic_bool *unwanted;	/* true: the rows are no longer needed; NULL: they are */
};

/* Counts, which are added to. */
struct code_stats {
	uint64_t bytes;			/* of code in gaps, without padding */
	uint64_t known_bytes;		/* of these with a rule */
	uint64_t functions;
	uint64_t joins_lost;		/* instructions where paths disagree */
	uint64_t unknown_jumps;		/* whose targets were not found */
};

/*
 * Appends to *out, whose last row must be below the first gap. 0, -ENOMEM, -ECANCELED (see
 * unwanted), or -EFBIG: over CODE_MAX_BYTES.
 */
int code_rows_build(const struct code_input *in, struct cfi_rows *out, struct code_stats *stats);
