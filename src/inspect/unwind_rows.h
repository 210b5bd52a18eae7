/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All rows of an unwind table in one list, as the kernel side would find them, each with its
 * source.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/unwind_table.h"

enum row_source { ROW_NOTHING, ROW_CFI, ROW_GO, ROW_CODE, ROW_SOURCES };

struct source_row {			/* valid from vaddr to the vaddr of the next row */
	uint64_t vaddr;
	struct unwind_rule rule;
	uint8_t source;			/* enum row_source */
};

struct unwind_rows {
	struct source_row *v;		/* by vaddr, ascending */
	size_t nr, cap;
	uint64_t end;			/* end of the last row, and of the file's addresses */
};

/* cfi: the rows that .eh_frame alone gives. 0 or -ENOMEM. *out must be all zero before. */
int unwind_rows_fill(struct unwind_rows *out, const struct unwind_table *t,
		     const struct cfi_rows *cfi, uint64_t end);
void unwind_rows_release(struct unwind_rows *r);

/*
 * The row that is valid at vaddr; NULL before the first one. *end is where it ends (may be NULL).
 */
const struct source_row *unwind_rows_find(const struct unwind_rows *r, uint64_t vaddr,
					  uint64_t *end);

/* ".eh_frame", "Go's function table", "by reading code". */
const char *row_source_name(unsigned source);
