/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile .eh_frame sections, through rows to a table. The first byte chooses the machine, where the section lies and
 * whether it is code, too; the rest is the section. Checks what cfi.h and unwind_table.h promise: rows ascend, neighbours differ, the
 * last one says that nothing is known, and the table answers as the rows do.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void check_rule(const struct unwind_rule *r)
{
	require((r->cfa <= CFA_ROOT || r->cfa == CFA_CALLEE_SAVED || r->cfa == CFA_EH_RETURN) && r->fp <= FP_DEREF_FP && RULE_RA(r) <= RA_REG && r->reg < 32);
	require(RULE_RA(r) != RA_REG || (r->cfa != CFA_REG && r->cfa != CFA_DEREF_REG));
	require(RULE_RA(r) != RA_CFA_OFF || r->cfa == CFA_SP || r->cfa == CFA_FP || r->cfa == CFA_REG);
	require(r->cfa != CFA_CALLEE_SAVED || r->ra == RA_CFA);
	require(r->cfa != CFA_PLT || (r->aux >= 0 && r->aux < 16));
}

static void check_rows(const struct cfi_rows *rows, size_t len)
{
	require(rows->nr <= 3 * len);
	for (size_t i = 0; i < rows->nr; i++) {
		check_rule(&rows->v[i].rule);
		require(!i || rows->v[i].vaddr > rows->v[i - 1].vaddr);
		require(!i || memcmp(&rows->v[i].rule, &rows->v[i - 1].rule, sizeof(rows->v[i].rule)));
	}
	require(!rows->nr || rows->v[rows->nr - 1].rule.cfa == CFA_NONE);
}

static void check_table(const struct cfi_rows *rows, uint64_t lo)
{
	uint64_t hi = lo + (1ull << 26);
	struct unwind_table *t;

	if (hi < lo || unwind_table_build(rows, lo, hi, &t))
		return;
	for (size_t i = 0; i < rows->nr; i++) {
		for (uint64_t vaddr = rows->v[i].vaddr - 1; vaddr != rows->v[i].vaddr + 2; vaddr++) {
			struct unwind_rule want = cfi_rows_find(rows, vaddr), got = unwind_table_find(t, vaddr);

			if (vaddr >= rows->v[0].vaddr && vaddr >= lo && vaddr < hi && rows->v[0].vaddr >= lo)
				require(!memcmp(&want, &got, sizeof(want)));
		}
	}
	unwind_table_free(t);
}

static int read_code(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len)
{
	const struct cfi_input *in = ctx;

	if (vaddr < in->vaddr || vaddr - in->vaddr > in->len || len > in->len - (vaddr - in->vaddr))
		return -1;
	memcpy(buf, in->eh_frame + (vaddr - in->vaddr), len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct cfi_rows rows = { 0 };
	struct cfi_input in;
	uint64_t vaddr;

	if (!len)
		return 0;
	in = (struct cfi_input){
		.eh_frame = data + 1,
		.len = len - 1,
		.vaddr = data[0] & 2 ? 0x3000 : 0xffffffff80000000 + data[0],
		.text_vaddr = 0x1000,
		.got_vaddr = 0x4000,
		.machine = data[0] & 1 ? CFI_AARCH64 : CFI_X86_64,
		.read_code = data[0] & 4 ? read_code : NULL,
	};
	in.ctx = &in;
	require(cfi_terminated_len(in.eh_frame, in.len) <= in.len);
	cfi_find_by_header(in.eh_frame, in.len, in.vaddr, &vaddr);
	require(!cfi_parse(&in, &rows));
	check_rows(&rows, in.len);
	check_table(&rows, 0);
	if (rows.nr)
		check_table(&rows, rows.v[0].vaddr & ~0xfffull);
	cfi_rows_release(&rows);
	return 0;
}
