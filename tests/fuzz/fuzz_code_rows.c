/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile code through the reader of code without call frame information. The first bytes say how it is cut up, the
 * rest is code, and also what switches read. Checks what code_rows.h promises: rows ascend, neighbours differ, rules
 * lie inside of gaps and are marked.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/code_rows.h"
#include "unwind/x86_insn.h"

#define HEADER 8

/* The code is its own data. */
static bool read_data(void *ctx, uint64_t vaddr, void *out, size_t size)
{
	const struct code_input *in = ctx;
	uint64_t at = vaddr - in->vaddr;

	if (vaddr < in->vaddr || at > in->len || in->len - at < size)
		return false;
	memcpy(out, in->code + at, size);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void check_rule(const struct unwind_rule *r)
{
	if (r->cfa == CFA_NONE)
		return;
	require(r->cfa == CFA_SP || r->cfa == CFA_FP || r->cfa == CFA_REG || r->cfa == CFA_DEREF_FP || r->cfa == CFA_ROOT ||
		r->cfa == CFA_SIGNAL);
	/* The entry point that the ELF header names; a system call. */
	require(r->ra & RULE_GUESSED || r->cfa == CFA_ROOT || r->cfa == CFA_SIGNAL);
	require(RULE_RA(r) == RA_CFA || (RULE_RA(r) == RA_REG && r->cfa == CFA_SP));
	require(r->fp <= FP_DEREF_FP && r->reg < 16);
	require(r->cfa != CFA_DEREF_FP || (r->cfa_off < 0 && r->fp == FP_DEREF_FP));
	require(r->cfa != CFA_SP || r->cfa_off >= (RULE_RA(r) == RA_REG ? 0 : 8));
	require(r->fp != FP_CFA || r->fp_off <= -8);
}

static int is_in_gap(const struct code_input *in, uint64_t vaddr)
{
	for (size_t i = 0; i < in->nr_gaps; i++)
		if (vaddr >= in->gaps[i].begin && vaddr < in->gaps[i].end)
			return 1;
	return 0;
}

static void check_rows(const struct code_input *in, const struct cfi_rows *rows)
{
	require(rows->nr <= in->len + in->nr_gaps + 1);
	for (size_t i = 0; i < rows->nr; i++) {
		check_rule(&rows->v[i].rule);
		require(!i || rows->v[i].vaddr > rows->v[i - 1].vaddr);
		require(!i || memcmp(&rows->v[i].rule, &rows->v[i - 1].rule, sizeof(rows->v[i].rule)));
		require(rows->v[i].rule.cfa == CFA_NONE || is_in_gap(in, rows->v[i].vaddr));
	}
	require(!rows->nr || rows->v[rows->nr - 1].rule.cfa == CFA_NONE);
}

static void check_insns(const uint8_t *code, size_t len)
{
	struct x86_insn insn;

	for (size_t at = 0; at < len; at++) {
		unsigned n = x86_decode(code + at, len - at, &insn);

		require(n <= X86_MAX_INSN && n <= len - at && n == (n ? insn.len : 0));
		if (n)
			require(x86_writes(&insn) <= 0xffff);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct code_range gaps[2], stubs[1];
	struct code_stats stats = { 0 };
	struct cfi_rows rows = { 0 };
	uint64_t base, starts[2], noreturn[1];
	struct code_input in;

	if (len <= HEADER || len > 4096)
		return 0;
	base = data[0] & 1 ? 0x401000 : 0xffffffffff000000;
	len -= HEADER;
	in = (struct code_input){
		.code = data + HEADER, .len = len, .vaddr = base,
		.read_data = read_data, .data_ctx = &in,
		.gaps = gaps, .nr_gaps = 2, .stubs = stubs, .nr_stubs = data[0] >> 1 & 1,
		.starts = starts, .nr_starts = 2, .noreturn = noreturn, .nr_noreturn = 1,
		.entry = base + data[1] % len,
	};
	gaps[0] = (struct code_range){ base + data[2] % len, base + data[2] % len + data[3] };
	gaps[1] = (struct code_range){ gaps[0].end + data[4], base + len };
	stubs[0] = (struct code_range){ base + data[5], base + data[5] + 48 };
	starts[0] = base + data[6];
	starts[1] = starts[0] + data[7];
	noreturn[0] = base + data[1] * 8u;
	check_insns(in.code, in.len);
	if (!code_rows_build(&in, &rows, &stats)) {
		check_rows(&in, &rows);
		require(stats.known_bytes <= stats.bytes && stats.bytes <= len);
	}
	cfi_rows_release(&rows);
	return 0;
}
