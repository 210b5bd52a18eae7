/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the next segment begins by the clock of the wall. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/capture/recorder_parts.h"

#define S NSEC_PER_SEC

static void test_multiples(void **state)
{
	(void)state;
	assert_int_equal(recorder_until_multiple(0, 15 * S, 0), 15 * S);
	assert_int_equal(recorder_until_multiple(1, 15 * S, 0), 15 * S - 1);
	assert_int_equal(recorder_until_multiple(14 * S, 15 * S, 0), S);
	assert_int_equal(recorder_until_multiple(15 * S, 15 * S, 0), 15 * S);
	assert_int_equal(recorder_until_multiple(31 * S, 15 * S, 4 * S), 3 * S);
	assert_int_equal(recorder_until_multiple(34 * S, 15 * S, 4 * S), 15 * S);
	assert_int_equal(recorder_until_multiple(35 * S, 15 * S, 4 * S), 14 * S);
}

/* Whatever the time, the length and the offset: the end is offset behind a multiple, and is near. */
static void test_any(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 10000; i++) {
		uint64_t now = (uint64_t)rand() * S + (uint64_t)rand(), ns = (1 + rand() % 600) * S;
		uint64_t offset = (uint64_t)rand() % 2000 * S / 7;
		uint64_t left = recorder_until_multiple(now, ns, offset);

		assert_true(left > 0 && left <= ns);
		assert_int_equal((now + left) % ns, offset % ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_multiples),
		cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
