/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that unwind information alone does not give, but the code of its functions does (x86-64).
 * Internal to the reading of CFI.
 *
 *	cfi_code_read(&c, in, lo, hi)
 *	while (cfi_code_next(&c, &at, &insn))
 *		an instruction that ends at bytes behind lo
 *
 * The results are patches: ranges of addresses where another rule holds. cfi_patch() inserts them
 * into the rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi_input.h"
#include "unwind/cfi_rows.h"
#include "unwind/x86_insn.h"

#define CFI_MAX_CODE (64u << 10)	/* longer functions are not looked at */

struct cfi_code {
	uint64_t vaddr;
	size_t len;
	uint8_t v[CFI_MAX_CODE];
};

/* Reads the code from lo to hi - 1. False: it is too long or unreadable. in->read_code is set. */
bool cfi_code_read(struct cfi_code *c, const struct cfi_input *in, uint64_t lo, uint64_t hi);

/*
 * Decodes the instruction *at bytes after the start, and moves *at to its end. False: the code
 * ends, or there is no instruction.
 */
bool cfi_code_next(const struct cfi_code *c, size_t *at, struct x86_insn *insn);

/* The target of a direct jump or call that ends end bytes after the start. */
uint64_t cfi_code_target(const struct cfi_code *c, size_t end, const struct x86_insn *insn);

struct cfi_patch {
	uint64_t lo, hi;		/* from lo to hi - 1, within one row */
	struct unwind_rule rule;
};

/* Ascending, not overlapping. */
struct cfi_patches {
	struct cfi_patch *v;
	size_t nr, cap;
};

/* 0 or -ENOMEM. */
int cfi_patches_add(struct cfi_patches *p, uint64_t lo, uint64_t hi,
		    const struct unwind_rule *rule);
int cfi_patch(struct cfi_rows *rows, const struct cfi_patches *p);
void cfi_patches_release(struct cfi_patches *p);
