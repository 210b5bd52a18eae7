/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Last rows of threads: each has its own, and threads without one take no row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/live/last_rows.h"

static void test_rows(void **state)
{
	struct last_rows r = { 0 };
	struct last_row *row;

	(void)state;
	assert_null(last_rows_find(&r, 0));
	for (uint32_t thread = 100000; thread > 0; thread -= 1000) {
		row = last_rows_at(&r, thread);
		assert_non_null(row);
		assert_int_equal(row->count, 0);
		row->count = thread;
	}
	assert_int_equal(r.nr, 100);
	assert_int_equal(r.nr_threads, 100001);
	for (uint32_t thread = 0; thread < 100002; thread++) {
		row = last_rows_find(&r, thread);
		assert_int_equal(row ? row->count : 0, thread % 1000 ? 0 : thread);
	}
	row = last_rows_at(&r, 5000);		/* the same again */
	assert_int_equal(row->count, 5000);
	assert_int_equal(r.nr, 100);
	last_rows_release(&r);
	assert_null(last_rows_find(&r, 5000));
	assert_int_equal(r.nr_threads, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
