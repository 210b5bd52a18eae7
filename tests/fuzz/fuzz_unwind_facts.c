/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files of anybody's making through all that `probee unwind-info` asks of them. Seeds: small ELF files in
 * tests/fuzz/corpus/elf_symbols.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/inspect/rule_text.h"
#include "src/inspect/unwind_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct unwind_facts *f)
{
	for (size_t i = 0; i < f->rows.nr; i++) {
		const struct source_row *row = &f->rows.v[i];
		struct rule_text t;
		uint64_t end;

		if (unwind_rows_find(&f->rows, row->vaddr, &end) != row || end < row->vaddr)
			__builtin_trap();
		rule_text(&row->rule, f->img->machine, &t);
		if (!t.cfa[0] || !t.fp[0] != !t.ra[0])
			__builtin_trap();
	}
}

static void check_gaps(const struct code_gaps *g)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < g->nr; i++) {
		if (g->v[i].begin >= g->v[i].end)
			__builtin_trap();
		sum += g->v[i].end - g->v[i].begin;
	}
	if (sum != g->gap_bytes || sum + g->padding_bytes > g->code_bytes)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[FACTS_SYMBOL_MAX];
	struct unwind_facts *f;
	uint64_t at[4];

	if (unwind_facts_open_memory(data, size, &f))
		return 0;
	check_rows(f);
	check_gaps(&f->gaps);
	for (size_t i = 0; i < f->gaps.nr && i < 16; i++)
		unwind_facts_symbol(f, f->gaps.v[i].begin, name);
	unwind_facts_symbol(f, UINT64_MAX, name);
	unwind_facts_places(f, "main+0x10", at, 4);
	unwind_facts_close(f);
	return 0;
}
