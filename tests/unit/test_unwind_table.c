/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/array.h"
#include "unwind/unwind_table.h"
#include "unwind/unwind_limits.h"

#define PAGE 0x10000ull
#define LO 0x400000ull

struct fixture {
	struct cfi_rows rows;
	struct unwind_table *t;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cfi_rows_release(&f->rows);
	unwind_table_free(f->t);
	free(f);
	return 0;
}

static struct unwind_rule sp_rule(int32_t off)
{
	return (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = off };
}

static void add(struct fixture *f, uint64_t vaddr, struct unwind_rule rule)
{
	struct cfi_row *row = array_push(&f->rows.v, &f->rows.nr, &f->rows.cap);

	assert_non_null(row);
	*row = (struct cfi_row){ vaddr, rule };
}

static void add_end(struct fixture *f, uint64_t vaddr)
{
	add(f, vaddr, (struct unwind_rule){ .cfa = CFA_NONE });
}

static void build(struct fixture *f, uint64_t vaddr_hi)
{
	assert_int_equal(unwind_table_build(&f->rows, LO, vaddr_hi, &f->t), 0);
	assert_int_equal(f->t->rules[0].cfa, CFA_NONE);
}

static void assert_same_answer(const struct fixture *f, uint64_t vaddr)
{
	struct unwind_rule want = cfi_rows_find(&f->rows, vaddr), got = unwind_table_find(f->t, vaddr);

	assert_memory_equal(&got, &want, sizeof(want));
}

static void test_no_rows(void **state)
{
	struct fixture *f = *state;

	build(f, LO + 10 * PAGE);
	assert_int_equal(f->t->nr_pages, 0);
	assert_int_equal(f->t->nr_rows, 0);
	assert_int_equal(unwind_table_find(f->t, LO).cfa, CFA_NONE);
}

static void test_pages_and_carry(void **state)
{
	struct fixture *f = *state;

	add(f, LO + 0x10, sp_rule(8));
	add(f, LO + 0x20, sp_rule(16));
	add(f, LO + 3 * PAGE, sp_rule(24));		/* the very first byte of a page */
	add(f, LO + 4 * PAGE - 1, sp_rule(8));		/* the very last */
	add_end(f, LO + 5 * PAGE + 5);
	build(f, LO + 9 * PAGE);
	assert_int_equal(f->t->nr_pages, 6);		/* nothing is known behind the last row */
	assert_int_equal(f->t->nr_rows, 5);
	assert_int_equal(f->t->nr_rules, 4);
	assert_int_equal(f->t->pages[0].nr, 2);
	assert_int_equal(f->t->pages[0].carry, 0);
	assert_int_equal(f->t->pages[2].nr, 0);
	assert_int_equal(f->t->rules[f->t->pages[2].carry].cfa_off, 16);
	assert_int_equal(f->t->pages[3].first, 2);
	assert_int_equal(f->t->pages[3].nr, 2);
	assert_int_equal(f->t->rules[f->t->pages[5].carry].cfa_off, 8);
	for (uint64_t vaddr = LO - 3; vaddr < LO + 9 * PAGE; vaddr++)
		assert_same_answer(f, vaddr);
}

static void test_last_rule_reaches_to_the_end(void **state)
{
	struct fixture *f = *state;

	add(f, LO, sp_rule(8));
	build(f, LO + 2 * PAGE + 1);
	assert_int_equal(f->t->nr_pages, 3);
	assert_int_equal(unwind_table_find(f->t, LO + 2 * PAGE).cfa, CFA_SP);
	assert_int_equal(unwind_table_find(f->t, LO + 3 * PAGE).cfa, CFA_NONE);
	assert_int_equal(unwind_table_find(f->t, LO - 1).cfa, CFA_NONE);
	assert_int_equal(unwind_table_find(f->t, UINT64_MAX).cfa, CFA_NONE);
}

static void test_rows_outside_are_left_out(void **state)
{
	struct fixture *f = *state;

	add(f, 0, sp_rule(8));
	add(f, LO - 1, sp_rule(16));
	add(f, LO + 0x100, sp_rule(24));
	add(f, LO + PAGE, sp_rule(32));
	add(f, UINT64_MAX, sp_rule(40));
	build(f, LO + PAGE);
	assert_int_equal(f->t->nr_rows, 1);
	assert_int_equal(unwind_table_find(f->t, LO).cfa, CFA_NONE);
	assert_int_equal(unwind_table_find(f->t, LO + PAGE - 1).cfa_off, 24);
}

static void test_many_random_rows(void **state)
{
	struct fixture *f = *state;
	uint64_t vaddr = LO, seed = 1;

	for (int i = 0; i < 20000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		vaddr += 1 + (seed >> 40) % (i % 100 ? 40 : 3 * PAGE);
		add(f, vaddr, sp_rule((int32_t)(i * 8 % 4099)));
	}
	add_end(f, vaddr + 7);
	build(f, vaddr + PAGE);
	for (size_t i = 0; i < f->rows.nr; i++) {
		assert_same_answer(f, f->rows.v[i].vaddr);
		assert_same_answer(f, f->rows.v[i].vaddr - 1);
	}
	for (uint32_t i = 0; i < f->t->nr_pages; i++)
		assert_same_answer(f, LO + i * PAGE);
}

static void add_rows_of_one_byte(struct fixture *f, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		add(f, LO + i, sp_rule(i % 2 ? 8 : 16));
	add_end(f, LO + PAGE + 0x10);
}

static void test_fullest_page(void **state)
{
	struct fixture *f = *state;

	add_rows_of_one_byte(f, 0xffff);
	build(f, LO + 2 * PAGE);
	assert_int_equal(f->t->pages[0].nr, 0xffff);
	for (uint64_t vaddr = LO; vaddr < LO + PAGE; vaddr++)
		assert_same_answer(f, vaddr);
}

static void test_page_overflow(void **state)
{
	struct fixture *f = *state;

	add_rows_of_one_byte(f, 0x10000);
	assert_int_equal(unwind_table_build(&f->rows, LO, LO + 2 * PAGE, &f->t), -E2BIG);
}

static void add_distinct_rules(struct fixture *f, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		add(f, LO + 4 * i, sp_rule((int32_t)i));
	add_end(f, LO + 4 * nr);
}

static void test_most_rules(void **state)
{
	struct fixture *f = *state;

	add_distinct_rules(f, 0xfffe);
	build(f, LO + 8 * PAGE);
	assert_int_equal(f->t->nr_rules, 0xffff);
	for (size_t i = 0; i < f->rows.nr; i++)
		assert_same_answer(f, f->rows.v[i].vaddr + 3);
}

static void test_rule_overflow(void **state)
{
	struct fixture *f = *state;

	add_distinct_rules(f, 0xffff);
	assert_int_equal(unwind_table_build(&f->rows, LO, LO + 8 * PAGE, &f->t), -E2BIG);
}

static void test_too_many_pages(void **state)
{
	struct fixture *f = *state;

	add(f, LO, sp_rule(8));
	add_end(f, LO + UNWIND_MAX_PAGES * PAGE);
	assert_int_equal(unwind_table_build(&f->rows, LO, UINT64_MAX, &f->t), -E2BIG);
}

static void test_free_nothing(void **state)
{
	(void)state;
	unwind_table_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_rows),
		TEST(test_pages_and_carry),
		TEST(test_last_rule_reaches_to_the_end),
		TEST(test_rows_outside_are_left_out),
		TEST(test_many_random_rows),
		TEST(test_fullest_page),
		TEST(test_page_overflow),
		TEST(test_most_rules),
		TEST(test_rule_overflow),
		TEST(test_too_many_pages),
		TEST(test_free_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
