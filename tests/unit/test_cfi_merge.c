/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/cfi_merge.h"

#define NONE CFA_NONE, 0
#define SP(off) CFA_SP, off
#define FP(off) CFA_FP, off
#define UNSUPPORTED CFA_UNSUPPORTED, 0

struct spec {
	uint64_t vaddr;
	uint8_t cfa;
	int32_t cfa_off;
};

#define ROWS(...) ((struct spec[]){ __VA_ARGS__, { UINT64_MAX, 0, 0 } })
#define NO_ROWS ((struct spec[]){ { UINT64_MAX, 0, 0 } })

static struct cfi_rows make(const struct spec *s)
{
	struct cfi_rows rows = {0};

	while (s[rows.nr].vaddr != UINT64_MAX)
		rows.nr++;
	rows.cap = rows.nr;
	rows.v = calloc(rows.nr + 1, sizeof(*rows.v));
	assert_non_null(rows.v);
	for (size_t i = 0; i < rows.nr; i++) {
		rows.v[i].vaddr = s[i].vaddr;
		rows.v[i].rule.cfa = s[i].cfa;
		rows.v[i].rule.cfa_off = s[i].cfa_off;
	}
	return rows;
}

static void assert_fill(const struct spec *base, const struct spec *extra, const struct spec *want)
{
	struct cfi_rows b = make(base), e = make(extra), w = make(want);

	assert_int_equal(cfi_rows_fill(&b, &e), 0);
	assert_int_equal(b.nr, w.nr);
	assert_true(b.cap >= b.nr);
	for (size_t i = 0; i < w.nr; i++) {
		assert_int_equal(b.v[i].vaddr, w.v[i].vaddr);
		assert_memory_equal(&b.v[i].rule, &w.v[i].rule, sizeof(w.v[i].rule));
	}
	cfi_rows_release(&b);
	cfi_rows_release(&e);
	cfi_rows_release(&w);
}

static void test_nothing_to_add(void **state)
{
	(void)state;
	assert_fill(NO_ROWS, NO_ROWS, NO_ROWS);
	assert_fill(ROWS({ 10, SP(8) }, { 20, NONE }), NO_ROWS, ROWS({ 10, SP(8) }, { 20, NONE }));
}

static void test_nothing_there(void **state)
{
	(void)state;
	assert_fill(NO_ROWS, ROWS({ 10, SP(8) }, { 20, NONE }), ROWS({ 10, SP(8) }, { 20, NONE }));
}

static void test_before_and_behind(void **state)
{
	(void)state;
	assert_fill(ROWS({ 10, SP(8) }, { 20, NONE }), ROWS({ 1, FP(16) }, { 5, NONE }, { 30, FP(16) }, { 40, NONE }),
		    ROWS({ 1, FP(16) }, { 5, NONE }, { 10, SP(8) }, { 20, NONE }, { 30, FP(16) }, { 40, NONE }));
}

static void test_gap(void **state)
{
	(void)state;
	assert_fill(ROWS({ 10, SP(8) }, { 20, NONE }, { 30, SP(16) }, { 40, NONE }),
		    ROWS({ 20, FP(16) }, { 30, NONE }),
		    ROWS({ 10, SP(8) }, { 20, FP(16) }, { 30, SP(16) }, { 40, NONE }));
	assert_fill(ROWS({ 10, SP(8) }, { 20, NONE }, { 30, SP(16) }, { 40, NONE }),
		    ROWS({ 22, FP(16) }, { 25, SP(24) }, { 28, NONE }),
		    ROWS({ 10, SP(8) }, { 20, NONE }, { 22, FP(16) }, { 25, SP(24) }, { 28, NONE }, { 30, SP(16) },
			 { 40, NONE }));
}

static void test_base_wins(void **state)
{
	(void)state;
	assert_fill(ROWS({ 10, SP(8) }, { 15, UNSUPPORTED }, { 20, NONE }), ROWS({ 5, FP(16) }, { 12, FP(32) }, { 25, NONE }),
		    ROWS({ 5, FP(16) }, { 10, SP(8) }, { 15, UNSUPPORTED }, { 20, FP(32) }, { 25, NONE }));
	assert_fill(ROWS({ 10, SP(8) }), ROWS({ 11, FP(16) }, { 99, FP(32) }), ROWS({ 10, SP(8) }));
}

/* The rule of extra that is in force where base ends began long before. */
static void test_extra_goes_on_behind_base(void **state)
{
	(void)state;
	assert_fill(ROWS({ 10, SP(8) }, { 20, NONE }), ROWS({ 0, FP(16) }),
		    ROWS({ 0, FP(16) }, { 10, SP(8) }, { 20, FP(16) }));
}

static void test_equal_neighbours_become_one(void **state)
{
	(void)state;
	assert_fill(ROWS({ 10, SP(8) }, { 20, NONE }, { 30, SP(8) }, { 40, NONE }), ROWS({ 5, SP(8) }, { 45, NONE }),
		    ROWS({ 5, SP(8) }, { 45, NONE }));
}

static void test_counts_stay(void **state)
{
	struct cfi_rows b = make(ROWS({ 10, SP(8) }, { 20, NONE })), e = make(ROWS({ 30, SP(8) }));

	(void)state;
	b.stats.nr_fdes = 7;
	e.stats.nr_fdes = 9;
	assert_int_equal(cfi_rows_fill(&b, &e), 0);
	assert_int_equal(b.stats.nr_fdes, 7);
	assert_int_equal(b.nr, 3);
	cfi_rows_release(&b);
	cfi_rows_release(&e);
}

/* What fill says at an address is what its definition says, for many small tables. */
static void test_by_definition(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct cfi_rows in[2] = { make(NO_ROWS), make(NO_ROWS) }, out;

		for (int k = 0; k < 2; k++) {
			in[k].v = realloc(in[k].v, 32 * sizeof(*in[k].v));
			assert_non_null(in[k].v);
			for (uint64_t a = 0; a < 32; a++) {
				struct cfi_row row = { .vaddr = a };

				seed = seed * 1103515245 + 12345;
				row.rule.cfa = (seed >> 20) % 3 ? CFA_SP : CFA_NONE;
				row.rule.cfa_off = row.rule.cfa == CFA_SP ? (int32_t)((seed >> 17) % 3) : 0;
				if ((seed >> 24) % 4 == 0 && (!in[k].nr || memcmp(&row.rule, &in[k].v[in[k].nr - 1].rule,
									     sizeof(row.rule))))
					in[k].v[in[k].nr++] = row;
			}
		}
		out = in[0];
		out.v = malloc(33 * sizeof(*out.v));
		assert_non_null(out.v);
		memcpy(out.v, in[0].v, in[0].nr * sizeof(*out.v));
		assert_int_equal(cfi_rows_fill(&out, &in[1]), 0);
		for (uint64_t a = 0; a < 34; a++) {
			struct unwind_rule base = cfi_rows_find(&in[0], a), extra = cfi_rows_find(&in[1], a);
			struct unwind_rule got = cfi_rows_find(&out, a);

			assert_memory_equal(&got, base.cfa == CFA_NONE ? &extra : &base, sizeof(got));
		}
		for (size_t i = 1; i < out.nr; i++) {
			assert_true(out.v[i].vaddr > out.v[i - 1].vaddr);
			assert_memory_not_equal(&out.v[i].rule, &out.v[i - 1].rule, sizeof(out.v[i].rule));
		}
		cfi_rows_release(&in[0]);
		cfi_rows_release(&in[1]);
		cfi_rows_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_to_add),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_before_and_behind),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_base_wins),
		cmocka_unit_test(test_extra_goes_on_behind_base),
		cmocka_unit_test(test_equal_neighbours_become_one),
		cmocka_unit_test(test_counts_stay),
		cmocka_unit_test(test_by_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
