/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What unwind-info says of files, on this very program and on made-up rules. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/inspect/mapped_binaries.h"
#include "src/inspect/rule_text.h"
#include "src/inspect/unwind_facts.h"

static void check_rule(struct unwind_rule r, uint16_t machine, const char *cfa, const char *fp, const char *ra)
{
	struct rule_text t;

	rule_text(&r, machine, &t);
	assert_string_equal(t.cfa, cfa);
	assert_string_equal(t.fp, fp);
	assert_string_equal(t.ra, ra);
}

static void rules_read_as_in_readelf(void **state)
{
	(void)state;
	check_rule((struct unwind_rule){ .cfa = CFA_NONE }, EM_X86_64, "none", "", "");
	check_rule((struct unwind_rule){ .cfa = CFA_ROOT, .ra = RULE_GUESSED }, EM_X86_64, "root", "", "");
	check_rule((struct unwind_rule){ .cfa = CFA_SIGNAL }, EM_X86_64, "signal frame", "", "");
	check_rule((struct unwind_rule){ .cfa = CFA_UNSUPPORTED }, EM_X86_64, "unsupported", "", "");
	check_rule((struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 8 }, EM_X86_64, "rsp+8", "u", "c-8");
	check_rule((struct unwind_rule){ .cfa = CFA_FP, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16, .ra = RULE_GUESSED },
		   EM_X86_64, "rbp+16", "c-16", "c-8");
	check_rule((struct unwind_rule){ .cfa = CFA_REG, .reg = 10, .fp = FP_DEREF_FP }, EM_X86_64, "r10+0", "*(rbp+0)", "c-8");
	check_rule((struct unwind_rule){ .cfa = CFA_DEREF_FP, .cfa_off = -8, .fp = FP_UNDEFINED }, EM_X86_64, "*(rbp-8)",
		   "lost", "c-8");
	check_rule((struct unwind_rule){ .cfa = CFA_DEREF_SP, .cfa_off = 8, .aux = 16 }, EM_X86_64, "*(rsp+8)+16", "u", "c-8");
	check_rule((struct unwind_rule){ .cfa = CFA_PLT, .aux = 11 }, EM_X86_64, "rsp+8+8*((rip&15)>=11)", "u", "c-8");
	check_rule((struct unwind_rule){ .cfa = CFA_SP, .ra = RA_REG, .reg = 2 }, EM_X86_64, "rsp+0", "u", "rcx");
	check_rule((struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 32, .fp = FP_CFA, .fp_off = -32, .ra = RA_CFA_OFF, .aux = -24 },
		   EM_AARCH64, "sp+32", "c-32", "c-24");
	check_rule((struct unwind_rule){ .cfa = CFA_SP, .ra = RA_REG, .reg = 30 }, EM_AARCH64, "sp+0", "u", "x30");
	check_rule((struct unwind_rule){ .cfa = 77 }, EM_AARCH64, "?", "", "");
}

static void hex_numbers(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_true(parse_hex("0x1a", &n) && n == 0x1a);
	assert_true(parse_hex("FFFFFFFFFFFFFFFF", &n) && n == UINT64_MAX);
	assert_false(parse_hex("", &n));
	assert_false(parse_hex("0x", &n));
	assert_false(parse_hex("0x1g", &n));
	assert_false(parse_hex("12345678901234567", &n));
	assert_false(parse_hex("-1", &n));
}

/* Sums over rows and ranges, counted anew. */
static void figures_agree(void **state)
{
	struct unwind_facts *f = NULL;
	uint64_t gap_bytes = 0, rows = 0;

	(void)state;
	assert_int_equal(unwind_facts_open(open("/proc/self/exe", O_RDONLY), &f), 0);
	assert_true(f->cfi.nr_fdes > 20 && f->rows.nr > 100);
	for (size_t i = 0; i < f->gaps.nr; i++) {
		const struct code_gap *g = &f->gaps.v[i];
		const struct source_row *row = unwind_rows_find(&f->rows, g->begin, NULL);

		assert_true(!row || row->rule.cfa == CFA_NONE);
		assert_true(unwind_facts_is_code(f, g->begin));
		assert_true(!i || g->end - g->begin <= g[-1].end - g[-1].begin);
		gap_bytes += g->end - g->begin;
	}
	assert_int_equal(gap_bytes, f->gaps.gap_bytes);
	assert_true(f->gaps.gap_bytes + f->gaps.padding_bytes < f->gaps.code_bytes / 10);
	for (unsigned kind = 0; kind < FACTS_CFA_KINDS; kind++)
		rows += f->by_cfa[kind];
	assert_int_equal(rows, f->rows.nr);
	assert_int_equal(f->by_source[ROW_CFI] + f->by_cfa[CFA_NONE] + f->by_source[ROW_GO] + f->by_source[ROW_CODE], f->rows.nr);
	assert_int_equal(f->table_bytes, 4 * f->rows.nr + 8 * f->nr_pages + 16 * f->nr_rules);
	unwind_facts_close(f);
}

static void names_and_places(void **state)
{
	struct unwind_facts *f = NULL;
	char name[FACTS_SYMBOL_MAX];
	uint64_t at[4], there[4];

	(void)state;
	assert_int_equal(unwind_facts_open(open("/proc/self/exe", O_RDONLY), &f), 0);
	assert_int_equal(unwind_facts_places(f, "main", at, 4), 1);
	assert_true(unwind_facts_is_code(f, at[0]));
	unwind_facts_symbol(f, at[0], name);
	assert_string_equal(name, "main");
	unwind_facts_symbol(f, at[0] + 1, name);
	assert_string_equal(name, "main+0x1");
	assert_int_equal(unwind_facts_places(f, "main+0x1", there, 4), 1);
	assert_int_equal(there[0], at[0] + 1);
	assert_int_equal(unwind_facts_places(f, "0x1234", there, 4), 1);
	assert_int_equal(there[0], 0x1234);
	assert_int_equal(unwind_facts_places(f, "no such function", there, 4), 0);
	unwind_facts_close(f);
}

static void own_mappings(void **state)
{
	struct mapped_binaries m;
	const struct mapped_binary *b;
	uint64_t vaddr = 0, at[4];

	(void)state;
	assert_int_equal(mapped_binaries_read(getpid(), &m), 0);
	b = mapped_binaries_find(&m, (uint64_t)(uintptr_t)own_mappings, &vaddr);
	assert_non_null(b);
	assert_non_null(b->facts);
	assert_int_equal(unwind_facts_named(b->facts, "own_mappings", at, 4), 1);
	assert_int_equal(at[0], vaddr);
	assert_int_equal(mapped_binaries_addr(&m, b, vaddr), (uintptr_t)own_mappings);
	assert_null(mapped_binaries_find(&m, 16, &vaddr));
	mapped_binaries_release(&m);
	assert_int_equal(mapped_binaries_read(999999999, &m), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_read_as_in_readelf), cmocka_unit_test(hex_numbers), cmocka_unit_test(figures_agree),
		cmocka_unit_test(names_and_places), cmocka_unit_test(own_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
