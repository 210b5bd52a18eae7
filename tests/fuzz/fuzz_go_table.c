/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile tables of Go programs. Two bytes: the size of the code; one byte: where it lies; the code; the table. Checks
 * what go_table.h and cfi.h promise: rows ascend and lie in the code, neighbours differ, the last one says that nothing
 * is known, and there are no more rows than the code and its functions can have.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "unwind/cfi_merge.h"
#include "unwind/go_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void check_rows(const struct go_table_input *in, const struct cfi_rows *rows)
{
	require(rows->nr <= in->code_len + 2);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct unwind_rule *r = &rows->v[i].rule;

		require(rows->v[i].vaddr - (in->code_vaddr - 1) <= in->code_len + 1);
		require((r->cfa <= CFA_OTHER_STACK || r->cfa == CFA_GOROUTINE) && r->fp <= FP_CFA && r->reg < 16);
		require(!i || rows->v[i].vaddr > rows->v[i - 1].vaddr);
		require(!i || memcmp(r, &rows->v[i - 1].rule, sizeof(*r)));
	}
	require(!rows->nr || rows->v[rows->nr - 1].rule.cfa == CFA_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct byte_reader r = br_make(data, len);
	struct go_table_input in = { .machine = CFI_X86_64 };
	struct cfi_rows rows = { 0 }, base = { 0 };
	uint8_t where;

	in.code_len = br_u16(&r);
	where = br_u8(&r);
	in.code = br_bytes(&r, in.code_len);
	if (r.bad)
		return 0;
	in.code_vaddr = in.text_vaddr = where == 255 ? -in.code_len : 0x401000ull * where;
	in.len = br_left(&r);
	in.pclntab = br_bytes(&r, in.len);
	if (!go_table_rows(&in, &rows)) {
		check_rows(&in, &rows);
		require(!cfi_rows_fill(&base, &rows));
		require(base.nr == rows.nr && (!base.nr || !memcmp(base.v, rows.v, rows.nr * sizeof(*rows.v))));
	}
	cfi_rows_release(&rows);
	cfi_rows_release(&base);
	return 0;
}
