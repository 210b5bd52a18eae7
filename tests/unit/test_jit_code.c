/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code was at an address at which time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "src/capture/processes/jit_code.h"

#define AT 0x1000

static void the_time_says_which(void **state)
{
	struct jit_code c = { 0 };

	(void)state;
	assert_int_equal(jit_code_generation(&c, AT, 5), 0);
	assert_false(jit_code_put(&c, AT, "parse", 10));
	assert_false(jit_code_put(&c, AT, "parse", 15));
	assert_true(jit_code_put(&c, AT, "print", 20));
	assert_int_equal(jit_code_generation(&c, AT, 5), 0);	/* nothing is known of before */
	assert_int_equal(jit_code_generation(&c, AT, 19), 0);
	assert_int_equal(jit_code_generation(&c, AT, 20), 1);
	assert_int_equal(jit_code_generation(&c, AT, UINT64_MAX), 1);
	/* What comes late changes nothing. */
	assert_false(jit_code_put(&c, AT, "other", 12));
	assert_int_equal(jit_code_generation(&c, AT, 13), 0);
	/* The same function again. */
	assert_true(jit_code_put(&c, AT, "parse", 30));
	assert_int_equal(jit_code_generation(&c, AT, 29), 1);
	assert_int_equal(jit_code_generation(&c, AT, 30), 0);
	assert_int_equal(jit_code_generation(&c, AT + 1, 30), 0);
	jit_code_release(&c);
}

static void there_are_limits(void **state)
{
	struct jit_code c = { 0 };
	char name[16];

	(void)state;
	for (unsigned i = 0; i < 2 * JIT_CODE_GENERATIONS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(jit_code_put(&c, AT, name, 1 + i), i && i <= JIT_CODE_GENERATIONS);
	}
	assert_int_equal(jit_code_generation(&c, AT, 1000), JIT_CODE_GENERATIONS);
	for (unsigned i = 0; i < 2 * JIT_CODE_SPANS; i++)
		jit_code_put(&c, AT, i % 2 ? "f1" : "f2", 1000 + i);
	assert_int_equal(c.v[0].nr, JIT_CODE_SPANS);
	for (unsigned i = 0; i < 2 * JIT_CODE_MAX; i++)
		assert_false(jit_code_put(&c, AT + 1 + i, "f", 1));
	assert_int_equal(c.nr, JIT_CODE_MAX);
	jit_code_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_says_which),
		cmocka_unit_test(there_are_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
