/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .gopclntab of a Go program -> flat rows of unwind rules. The Go linker writes no .eh_frame, but
 * its runtime unwinds by this table itself: for every address of every function it has the depth of
 * the stack ("pcsp").
 *
 * Layout: Go 1.2 to 1.15, 1.16, 1.18 and 1.20 (still that of 1.26), as documented by
 * golang.org/s/go12symtab and the comments of cmd/link/internal/ld/pcln.go; x86-64 only. The rules
 * of the runtime's own functions that switch stacks are in go_rules.c.
 *
 * Gets bytes, not files. The bytes are foreign: nothing is read outside them, the time and the
 * memory are bounded by a multiple of the code's and the table's size. Fuzzed
 * (tests/fuzz/fuzz_go_table.c).
 */
#pragma once

#include "unwind/cfi.h"

struct go_table_input {
	const uint8_t *pclntab;
	size_t len;			/* may be more than the table has */
	uint64_t text_vaddr;		/* what the offsets of functions count from; since Go
					   1.18 */
	const uint8_t *code;		/* all functions are in here, others are left out */
	size_t code_len;
	uint64_t code_vaddr;
	enum cfi_machine machine;
};

/*
 * Replaces *out (init it with zeroes). Functions whose table is damaged get what of it could be
 * read, and are counted in stats.bad_entries; stats.nr_fdes counts functions. 0; -ENOMEM; -ENOENT:
 * no table, or not one that is understood; -ENOTSUP: not of x86-64. Release with
 * cfi_rows_release().
 */
int go_table_rows(const struct go_table_input *in, struct cfi_rows *out);
