/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/proc/cpus.h"

static void expect_list(const char *text, const uint32_t *want, size_t nr)
{
	struct cpu_list l;

	assert_int_equal(cpus_parse(text, &l), 0);
	assert_int_equal(l.nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(l.v[i], want[i]);
	cpus_release(&l);
	assert_null(l.v);
}

#define expect(text, ...) expect_list((text), (const uint32_t[]){ __VA_ARGS__ }, \
				      sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void test_lists(void **state)
{
	(void)state;
	expect("0", 0);
	expect("7\n", 7);
	expect("0-3", 0, 1, 2, 3);
	expect("0-1,4,6-7\n", 0, 1, 4, 6, 7);
	expect("5-5", 5);
	expect("65535", 65535);
}

/* A CPU that is named twice would be sampled twice. */
static void test_order_and_repetition(void **state)
{
	(void)state;
	expect("3,1,2", 1, 2, 3);
	expect("1,1", 1);
	expect("0-3,2-5,4", 0, 1, 2, 3, 4, 5);
}

static void test_no_lists(void **state)
{
	static const char *const bad[] = {
		"", "\n", ",", ",1", "1,", "1,,2", "a", "1a", "-1", "1-", "1-a", "3-1",
		"0-3-5", " 1", "1 ", "1;2", "0x1", "1.5", "+1", "65536", "0-65536",
		"99999999999999999999", "1-99999999999999999999", "1\n2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cpu_list l;
		int err = cpus_parse(bad[i], &l);

		if (err != -EINVAL)
			print_error("\"%s\"\n", bad[i]);
		assert_int_equal(err, -EINVAL);
		cpus_release(&l);	/* what was read before the mistake */
	}
}

static void test_online(void **state)
{
	struct cpu_list l;

	(void)state;
	assert_int_equal(cpus_online(&l), 0);
	assert_int_equal(l.nr, sysconf(_SC_NPROCESSORS_ONLN));
	for (size_t i = 1; i < l.nr; i++)
		assert_true(l.v[i - 1] < l.v[i]);
	cpus_release(&l);
}

static void expect_text(const char *text, const char *expected)
{
	struct cpu_list l;
	char out[64];

	assert_int_equal(cpus_parse(text, &l), 0);
	cpus_text(&l, out, sizeof(out));
	assert_string_equal(out, expected);
	cpus_release(&l);
}

static void test_as_text_again(void **state)
{
	struct cpu_list l = { 0 };
	char out[8];

	(void)state;
	expect_text("0", "0");
	expect_text("0-3", "0-3");
	expect_text("7,0,1,2,9,10", "0-2,7,9-10");
	assert_int_equal(cpus_parse("100,200,300", &l), 0);
	assert_true(cpus_has(&l, 200));
	assert_false(cpus_has(&l, 201));
	cpus_text(&l, out, sizeof(out));
	assert_string_equal(out, "100,200");
	cpus_release(&l);
	cpus_text(&l, out, sizeof(out));
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists), cmocka_unit_test(test_order_and_repetition),
		cmocka_unit_test(test_no_lists), cmocka_unit_test(test_online),
		cmocka_unit_test(test_as_text_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
