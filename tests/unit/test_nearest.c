/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/nearest.h"

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(word_distance("", ""), 0);
	assert_int_equal(word_distance("report", "report"), 0);
	assert_int_equal(word_distance("Report", "rePORT"), 0);
	assert_int_equal(word_distance("repotr", "report"), 1);	/* neighbours swapped */
	assert_int_equal(word_distance("reprt", "report"), 1);
	assert_int_equal(word_distance("reeport", "report"), 1);
	assert_int_equal(word_distance("rexort", "report"), 1);
	assert_int_equal(word_distance("", "abc"), 3);
}

static void test_long_words(void **state)
{
	char a[1000];

	(void)state;
	memset(a, 'a', sizeof(a));
	a[999] = 0;
	assert_int_equal(word_distance(a, ""), 31);
}

static void test_nearest(void **state)
{
	struct nearest n = nearest_to("smaple");

	(void)state;
	nearest_offer(&n, "report");
	assert_null(n.best);
	nearest_offer(&n, "sampled");
	nearest_offer(&n, "sample");
	nearest_offer(&n, "simple");
	assert_string_equal(n.best, "sample");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_long_words),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
