/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that no path leads to is tried, all of it or where it is wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/code_rows.h"

#define BASE 0x401000ull
#define UNREACHED 32		/* offset of the second function, and distance of those behind it */

/*
 * ret; padding; and at 32, 64 and 96 functions that nobody calls: push %rbx; call *%rax; pop %rbx; ret; padding.
 */
static const uint8_t code[128] = {
	[0] = 0xc3, [1 ... 31] = 0xcc,
	[32] = 0x53, 0xff, 0xd0, 0x5b, 0xc3, [37 ... 63] = 0xcc,
	[64] = 0x53, 0xff, 0xd0, 0x5b, 0xc3, [69 ... 95] = 0xcc,
	[96] = 0x53, 0xff, 0xd0, 0x5b, 0xc3, [101 ... 127] = 0xcc,
};

/* The rule behind the push of function number i; tried: from which byte to which. */
static struct unwind_rule rule_of(unsigned i, uint64_t from, uint64_t to)
{
	static const uint64_t start = BASE;
	const struct code_range gap = { BASE, BASE + sizeof(code) };
	const struct code_input in = {
		.code = code, .len = sizeof(code), .vaddr = BASE, .gaps = &gap, .nr_gaps = 1,
		.starts = &start, .nr_starts = 1,
		.tried = { to ? BASE + from : 0, to ? BASE + to : 0 },
	};
	struct cfi_rows rows = { 0 };
	struct code_stats stats = { 0 };
	struct unwind_rule rule;

	assert_int_equal(code_rows_build(&in, &rows, &stats), 0);
	rule = cfi_rows_find(&rows, BASE + UNREACHED * (i + 1) + 1);
	cfi_rows_release(&rows);
	return rule;
}

static void test_all(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(rule_of(i, 0, 0).cfa, CFA_SP);
		assert_int_equal(rule_of(i, 0, 0).cfa_off, 16);
	}
}

static void test_a_part(void **state)
{
	(void)state;
	assert_int_equal(rule_of(0, 64, 96).cfa, CFA_NONE);
	assert_int_equal(rule_of(1, 64, 96).cfa, CFA_SP);
	assert_int_equal(rule_of(2, 64, 96).cfa, CFA_NONE);
	/* What lies before all of the code. */
	assert_int_equal(rule_of(0, -64ull, -32ull).cfa, CFA_NONE);
	/* From the middle of an instruction on: what begins before it is not tried, and no part of it. */
	assert_int_equal(rule_of(0, 33, 128).cfa, CFA_NONE);
	assert_int_equal(rule_of(1, 33, 128).cfa_off, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
