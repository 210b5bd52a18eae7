/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes flat rows of unwind rules from the .gopclntab of a Go program. The Go linker writes no
 * .eh_frame, but Go's runtime unwinds by this table itself: for every address of every function it
 * has the depth of the stack ("pcsp").
 *
 * Layout: Go 1.2 to 1.15, 1.16, 1.18 and 1.20 (still that of 1.26), as documented by
 * golang.org/s/go12symtab and the comments of cmd/link/internal/ld/pcln.go; x86-64 only. The rules
 * of the runtime's own functions that switch stacks are in go_rules.c.
 *
 * The input is bytes, not files. They are foreign: nothing is read outside them, and time and
 * memory are bounded by a multiple of the code's and the table's size. Fuzzed
 * (tests/fuzz/fuzz_go_table.c).
 */
#pragma once

#include "unwind/cfi.h"

struct go_table_input {
	const uint8_t *pclntab;
	size_t len;			/* may be more than the table has */
	uint64_t text_vaddr;		/* since Go 1.18: the base of functions' offsets */
	const uint8_t *code;		/* functions outside of it are left out */
	size_t code_len;
	uint64_t code_vaddr;
	enum cfi_machine machine;
};

/*
 * Replaces *out, which must be all zero before. A function whose table is damaged gets the rows
 * that could be read, and is counted in stats.bad_entries; stats.nr_fdes counts functions. 0;
 * -ENOMEM; -ENOENT: no table, or an unknown version; -ENOTSUP: not x86-64. Release with
 * cfi_rows_release().
 */
int go_table_rows(const struct go_table_input *in, struct cfi_rows *out);
