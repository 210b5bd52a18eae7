/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/bisect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Tables of every length with every element twice, asked for all keys in and around them. */
static void test_every_place_is_found(void **state)
{
	uint32_t v[40];

	(void)state;
	for (uint32_t k = 0; k < 40; k++)
		v[k] = 10 + k / 2 * 2;
	for (size_t nr = 0; nr <= 40; nr++)
		for (uint32_t key = 9; key < 60; key++) {
			size_t before = 0, until = 0;

			for (size_t k = 0; k < nr; k++) {
				before += v[k] < key;
				until += v[k] <= key;
			}
			assert_int_equal(bisect(nr, i, v[i] < key), before);
			assert_int_equal(bisect(nr, i, v[i] <= key), until);
		}
}

/* Each step halves what is left: 64 questions are enough for any table. */
static void test_few_questions_are_asked(void **state)
{
	unsigned asked = 0;

	(void)state;
	assert_true(bisect(SIZE_MAX, i, (asked++, i < 12345678901234)) == 12345678901234);
	assert_in_range(asked, 1, 64);
}

static void test_numbers_are_ordered(void **state)
{
	uint32_t a[] = { 3, 0, UINT32_MAX, 1, 3 };
	uint64_t b[] = { UINT64_MAX, 5, 1ull << 32, 0 };

	(void)state;
	qsort(a, 5, sizeof(*a), compare_u32);
	qsort(b, 4, sizeof(*b), compare_u64);
	assert_true(a[0] == 0 && a[1] == 1 && a[2] == 3 && a[3] == 3 && a[4] == UINT32_MAX);
	assert_true(b[0] == 0 && b[1] == 5 && b[2] == 1ull << 32 && b[3] == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_place_is_found),
		cmocka_unit_test(test_few_questions_are_asked),
		cmocka_unit_test(test_numbers_are_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
