/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_table_mark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/unwind_table.h"

#define LO 0x1000ull
#define HI (LO + 4 * 0x10000ull)

static const struct unwind_rule plain = { .cfa = CFA_SP, .cfa_off = 8 },
	deep = { .cfa = CFA_SP, .cfa_off = 64 }, root = { .cfa = CFA_ROOT };

static struct unwind_table *table(void)
{
	struct cfi_row v[] = {
		{ .vaddr = LO, .rule = plain }, { .vaddr = 0x5000, .rule = deep },
		{ .vaddr = 0x5100, .rule = root }, { .vaddr = 0x5180, .rule = deep },
		{ .vaddr = 0x1f000, .rule = plain }, { .vaddr = HI - 0x100, .rule = deep },
	};
	struct cfi_rows rows = { .v = v, .nr = sizeof(v) / sizeof(v[0]) };
	struct unwind_table *t;

	assert_int_equal(unwind_table_build(&rows, LO, HI, &t), 0);
	return t;
}

/* Every address has the rule that it had, with the mark or without. */
static void check(uint64_t lo, uint64_t hi)
{
	struct unwind_table *was = table(), *t = table();

	assert_int_equal(unwind_table_mark(t, lo, hi), 0);
	assert_true(unwind_table_is_sound(t));
	for (uint64_t a = LO; a < HI; a += a > lo - 4 && a < lo + 4 ? 1 : 3) {
		struct unwind_rule old = unwind_table_find(was, a), now = unwind_table_find(t, a);
		int is_in = a >= lo && a < hi && old.cfa == CFA_SP;

		assert_int_equal(!!(now.ra & RULE_RUNTIME), is_in);
		now.ra &= (uint8_t)~RULE_RUNTIME;
		assert_memory_equal(&now, &old, sizeof(now));
	}
	unwind_table_free(was);
	unwind_table_free(t);
}

static void marks_ranges(void **state)
{
	(void)state;
	check(0x5000, 0x5180);		/* from row to row */
	check(0x4ff8, 0x5104);		/* between rows */
	check(0x5001, 0x5002);		/* within one */
	check(0x5000, 0x31000);		/* over pages, and as many without rows */
	check(0x11000, 0x21000);	/* a page as a whole */
	check(LO, HI);
	check(0, HI + 0x100000);
}

static void marks_twice(void **state)
{
	struct unwind_table *t = table();
	size_t rules;

	(void)state;
	assert_int_equal(unwind_table_mark(t, 0x5000, 0x6000), 0);
	rules = t->nr_rules;
	assert_int_equal(unwind_table_mark(t, 0x5000, 0x6000), 0);
	assert_int_equal(unwind_table_mark(t, 0x7000, 0x7000), 0);
	assert_int_equal(t->nr_rules, rules);
	assert_true(unwind_table_find(t, 0x5000).ra & RULE_RUNTIME);
	assert_false(unwind_table_find(t, 0x6000).ra & RULE_RUNTIME);
	unwind_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_ranges),
		cmocka_unit_test(marks_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
