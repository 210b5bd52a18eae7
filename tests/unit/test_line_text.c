/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has no room is left out, and the text ends with a NUL whatever comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/line_text.h"

static void test_fits(void **state)
{
	char out[16] = "";
	struct line_text t = { .s = out, .size = sizeof(out) };

	(void)state;
	line_put(&t, "%d and", 3);
	line_put(&t, " %s", "four");
	assert_string_equal(out, "3 and four");
	assert_int_equal(t.len, 10);
}

static void test_is_cut(void **state)
{
	char out[9] = "xxxxxxxx";

	(void)state;
	for (size_t size = 1; size <= 8; size++) {
		struct line_text t = { .s = out, .size = size };

		memset(out, 'x', 8);
		line_put(&t, "%s", "abc");
		line_put(&t, "%s", "defgh");
		line_put(&t, "%s", "i");
		assert_int_equal(t.len, size - 1);
		assert_memory_equal(out, "abcdefgh", size - 1);
		assert_int_equal(out[size - 1], 0);
		if (size < 8)
			assert_int_equal(out[size], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
