/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile code through the reader of windows of generated code. The first bytes say how it is cut into pieces, where
 * instructions begin and what is known outside. Checks what code_window.h promises: rows ascend, neighbours differ,
 * rules lie inside of the window and are of the kinds that a parser's answer may have.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/code_window.h"

#define HEADER 12
#define BASE 0x7f0000010000ull

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
	require(r->cfa == CFA_SP || r->cfa == CFA_FP || r->cfa == CFA_UNSUPPORTED);
	require(r->ra == RULE_GUESSED && r->fp <= FP_UNDEFINED && !r->reg);
	require(r->aux == 0 || r->aux == CODE_SEARCH_WORDS);
	require(r->cfa != CFA_SP || r->cfa_off >= 0);
	require(r->fp != FP_CFA || r->fp_off < 0);
}

static void check(const struct code_window *in, const struct cfi_rows *rows, const struct code_wants *wants)
{
	uint64_t begin = in->pieces[0].addr, end = begin + in->pieces[0].len;

	for (size_t i = 0; i < rows->nr; i++) {
		check_rule(&rows->v[i].rule);
		require(rows->v[i].vaddr >= begin && rows->v[i].vaddr <= end);
		require(!i || rows->v[i].vaddr > rows->v[i - 1].vaddr);
		require(!i || memcmp(&rows->v[i].rule, &rows->v[i - 1].rule, sizeof(rows->v[i].rule)));
	}
	require(wants->nr <= CODE_MAX_WANTS);
	for (size_t i = 0; i < wants->nr; i++)
		for (size_t k = 0; k < in->nr_pieces; k++)
			require(wants->v[i] - in->pieces[k].addr >= in->pieces[k].len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct code_piece pieces[2];
	struct code_pin pins[2] = { 0 };
	uint64_t seeds[3];
	struct cfi_rows rows = { 0 };
	struct code_wants wants;
	struct code_window in = { .pieces = pieces, .nr_pieces = 2, .pins = pins, .nr_pins = 2,
				  .seeds = seeds, .nr_seeds = 3 };
	size_t first;

	if (len <= HEADER + 2 || len > 4096)
		return 0;
	len -= HEADER;
	first = 1 + data[0] * (len - 2) / 256;
	pieces[0] = (struct code_piece){ data + HEADER, first, BASE + data[1] };
	pieces[1] = (struct code_piece){ data + HEADER + first, len - first, BASE + 0x20000 };
	seeds[0] = pieces[0].addr + data[2] % first;
	seeds[1] = pieces[1].addr + data[3];
	seeds[2] = BASE + data[4] * 256u;
	for (int i = 0; i < 2; i++)
		pins[i] = (struct code_pin){
			.addr = pieces[0].addr + first + data[5 + 3 * i], .cfa_off = data[6 + 3 * i] - 8,
			.fp = data[7 + 3 * i] % 3, .fp_off = -(int32_t)data[7 + 3 * i],
			.is_file = data[7 + 3 * i] & 1,
		};
	if (!code_window_rows(&in, &rows, &wants))
		check(&in, &rows, &wants);
	cfi_rows_release(&rows);
	return 0;
}
