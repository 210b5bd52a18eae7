/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks the loop of an interpreter in an unwind table (RULE_RUNTIME of row.h). */
#pragma once

#include <stdint.h>

struct unwind_table;

/*
 * From lo to hi - 1 (virtual addresses) the rules get RULE_RUNTIME; other addresses keep theirs.
 * Rules by which no caller is found stay as they are, and so do absent pages. 0, -ENOMEM, or
 * -E2BIG: there would be too many rules, or rows in a page; then the table is as it was.
 */
int unwind_table_mark(struct unwind_table *t, uint64_t lo, uint64_t hi);

/*
 * Marks code that a runtime has made and put into a file: there, the rules that tell nothing or are
 * guessed get RULE_RUNTIME. Returns what unwind_table_mark() does.
 */
int unwind_table_own(struct unwind_table *t, uint64_t lo, uint64_t hi);
