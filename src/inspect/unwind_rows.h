/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of an unwind table in one list again, as the kernel side would find them, each with what
 * it comes from.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/unwind_table.h"

enum row_source { ROW_NOTHING, ROW_CFI, ROW_GO, ROW_CODE, ROW_SOURCES };

struct source_row {			/* in force from vaddr to the next row's vaddr */
	uint64_t vaddr;
	struct unwind_rule rule;
	uint8_t source;			/* enum row_source */
};

struct unwind_rows {
	struct source_row *v;		/* ascending vaddr */
	size_t nr, cap;
	uint64_t end;			/* of the last row: end of the file's addresses */
};

/* cfi: what .eh_frame alone says. 0 or -ENOMEM. *out is all zero before. */
int unwind_rows_fill(struct unwind_rows *out, const struct unwind_table *t,
		     const struct cfi_rows *cfi, uint64_t end);
void unwind_rows_release(struct unwind_rows *r);

/* The row in force at vaddr, or NULL before the first one; *end is where it ends (may be NULL). */
const struct source_row *unwind_rows_find(const struct unwind_rows *r, uint64_t vaddr,
					  uint64_t *end);

const char *row_source_name(unsigned source);		/* ".eh_frame", "Go's function table", "by
							   reading code" */
