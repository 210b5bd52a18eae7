/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of one binary, in the form that the BPF side reads (row.h), before it is placed
 * in slabs. Rules are kept by value here; the dictionary gives them numbers when the table is
 * placed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/row.h"

struct unwind_table {
	uint64_t vaddr_lo;		/* pages count from here */
	uint32_t nr_pages;
	/*
	 * .first relative to rows, .carry an index of rules; or absent: a part of the table.
	 */
	struct unwind_page *pages;
	struct unwind_row *rows;	/* .rule an index of rules */
	size_t nr_rows;
	struct unwind_rule *rules;	/* distinct rules of this table; rules[0] is CFA_NONE */
	size_t nr_rules;
	struct cfi_stats stats;
};

/*
 * Builds a table from rows; those outside vaddr_lo .. vaddr_hi - 1 are left out. There are no pages
 * after the last row. 0, -ENOMEM, or -E2BIG: more than 65,535 distinct rules or rows in a page, or
 * too many pages.
 */
int unwind_table_build(const struct cfi_rows *rows, uint64_t vaddr_lo, uint64_t vaddr_hi,
		       struct unwind_table **tp);

/*
 * A part of a table, made of ranges of pages. All other pages are absent.
 *
 *	unwind_part_begin(vaddr_lo, nr_pages, &b)	nr_pages: of the whole table
 *	unwind_part_add(b, rows, first, nr)		pages first .. first + nr - 1, in ascending
 *							order; rows: at least those of these pages
 *	unwind_part_end(b)				the table; NULL after an error
 *
 * Pages that rows do not reach say CFA_NONE. 0, -ENOMEM or -E2BIG as above.
 */
struct unwind_part;

int unwind_part_begin(uint64_t vaddr_lo, uint32_t nr_pages, struct unwind_part **bp);
int unwind_part_add(struct unwind_part *b, const struct cfi_rows *rows, uint32_t first,
		    uint32_t nr);
struct unwind_table *unwind_part_end(struct unwind_part *b);

/* Whether no page of it is absent. */
bool unwind_table_is_whole(const struct unwind_table *t);

/*
 * Whether all numbers in a table lie inside of it, and its rows are sorted. True of every table
 * that unwind_table_build() makes; to be asked of one that another process has sent.
 */
bool unwind_table_is_sound(const struct unwind_table *t);

void unwind_table_free(struct unwind_table *t);		/* NULL is fine */

/* The rule in force at vaddr, found by the same search as in the kernel. Not of an absent page. */
struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t vaddr);
