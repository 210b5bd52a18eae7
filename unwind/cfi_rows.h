/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows that call frame information is turned into (cfi.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/row.h"

/* The rule in force from vaddr to the vaddr of the next row. */
struct cfi_row {
	uint64_t vaddr;
	struct unwind_rule rule;
};

struct cfi_stats {
	size_t nr_fdes, nr_cies;
	size_t bad_entries;		/* entries skipped because damaged */
	size_t unsupported;		/* rows whose rule became CFA_UNSUPPORTED */
	size_t overlaps;		/* FDEs dropped or cut because they overlap another */
};

struct cfi_rows {
	struct cfi_row *v;		/* strictly ascending vaddr; neighbours' rules differ */
	size_t nr, cap;
	struct cfi_stats stats;
};

void cfi_rows_release(struct cfi_rows *rows);

/* Adds a row, by ascending vaddr, unless its rule is that of the row before. 0 or -ENOMEM. */
int cfi_rows_append(struct cfi_rows *out, uint64_t vaddr, const struct unwind_rule *rule);

/* The rule in force at vaddr; CFA_NONE outside. */
struct unwind_rule cfi_rows_find(const struct cfi_rows *rows, uint64_t vaddr);
