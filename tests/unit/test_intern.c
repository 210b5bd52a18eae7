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

#include "src/base/intern.h"

static void test_empty_string_is_zero(void **state)
{
	struct intern *in = intern_new();
	size_t len = 7;

	(void)state;
	assert_int_equal(intern_str(in, ""), 0);
	assert_int_equal(intern_str(in, NULL), 0);
	assert_int_equal(intern_count(in), 1);
	assert_string_equal(intern_get(in, 0, &len), "");
	assert_int_equal(len, 0);
	intern_free(in);
	intern_free(NULL);
}

static void test_equal_bytes_equal_ids(void **state)
{
	struct intern *in = intern_new();
	uint32_t a = intern_str(in, "main"), b = intern_str(in, "malloc");
	char again[] = "main";

	(void)state;
	assert_int_equal(a, 1);
	assert_int_equal(b, 2);
	assert_int_equal(intern_str(in, again), a);
	assert_string_equal(intern_get(in, b, NULL), "malloc");
	intern_free(in);
}

static void test_nul_bytes(void **state)
{
	struct intern *in = intern_new();
	uint32_t a = intern_bytes(in, "a\0b", 3), b = intern_bytes(in, "a\0c", 3);
	size_t len;

	(void)state;
	assert_int_not_equal(a, b);
	assert_int_not_equal(intern_str(in, "a"), a);
	assert_memory_equal(intern_get(in, a, &len), "a\0b", 4);	/* with the NUL behind it */
	assert_int_equal(len, 3);
	intern_free(in);
}

static void test_unknown_id_is_empty(void **state)
{
	struct intern *in = intern_new();

	(void)state;
	assert_string_equal(intern_get(in, 12345, NULL), "");
	intern_free(in);
}

/* Fills many blocks, with strings around and above the size of one; none may move or change. */
static void test_many_and_large(void **state)
{
	static const size_t sizes[] = { 65534, 65535, 65536, 65537, 200000, 1, 30000, 40000, 3 };
	struct intern *in = intern_new();
	const char *first = intern_get(in, intern_str(in, "first"), NULL);
	char *big = malloc(200000), name[32];
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(big, 'a' + (int)i, sizes[i]);
		assert_int_equal(intern_bytes(in, big, sizes[i]), 2 + i);
	}
	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		assert_int_equal(intern_str(in, name), 11 + i);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(big, 'a' + (int)i, sizes[i]);
		assert_memory_equal(intern_get(in, (uint32_t)(2 + i), &len), big, sizes[i]);
		assert_int_equal(len, sizes[i]);
	}
	assert_string_equal(intern_get(in, 11 + 49999, NULL), "function_49999");
	assert_ptr_equal(intern_get(in, 1, NULL), first);
	free(big);
	intern_free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_string_is_zero),
		cmocka_unit_test(test_equal_bytes_equal_ids),
		cmocka_unit_test(test_nul_bytes),
		cmocka_unit_test(test_unknown_id_is_empty),
		cmocka_unit_test(test_many_and_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
