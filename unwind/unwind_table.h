/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of one binary, in the shape the BPF side reads (row.h), before it is placed in
 * slabs. Rules are still by value here: numbers are given by the dictionary when the table is
 * placed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/row.h"

struct unwind_table {
	uint64_t vaddr_lo;		/* pages count from here */
	uint32_t nr_pages;
	struct unwind_page *pages;	/* .first relative to rows, .carry an index of rules */
	struct unwind_row *rows;	/* .rule an index of rules */
	size_t nr_rows;
	struct unwind_rule *rules;	/* distinct rules of this table; rules[0] is CFA_NONE */
	size_t nr_rules;
	struct cfi_stats stats;
};

/*
 * Builds from rows; those outside vaddr_lo .. vaddr_hi - 1 are left out. Pages end with the last
 * row: behind it nothing is known. 0, -ENOMEM, or -E2BIG (more than 65,535 distinct rules or rows a
 * page, or too many pages).
 */
int unwind_table_build(const struct cfi_rows *rows, uint64_t vaddr_lo, uint64_t vaddr_hi,
		       struct unwind_table **tp);
void unwind_table_free(struct unwind_table *t);		/* NULL is fine */

/* The rule in force at vaddr, by the very search the kernel does. */
struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t vaddr);
