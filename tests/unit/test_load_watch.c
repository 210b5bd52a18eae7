/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's files say. The watch itself runs in tests/live/flight.sh. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/flight/load_watch.h"
#include "tests/unit/stderr_text.h"

static void test_pressure(void **state)
{
	static const char text[] = "some avg10=83.74 avg60=68.31 avg300=38.68 total=5846214561\n"
				   "full avg10=0.00 avg60=0.18 avg300=0.72 total=62025150\n";
	uint64_t us = 0;

	(void)state;
	assert_true(load_pressure_total(text, false, &us));
	assert_int_equal(us, 5846214561);
	assert_true(load_pressure_total(text, true, &us));
	assert_int_equal(us, 62025150);
	assert_false(load_pressure_total("some avg10=83.74\n", true, &us));
	assert_false(load_pressure_total("some avg10=83.74 total=\n", false, &us));
	assert_false(load_pressure_total("", false, &us));
}

static void test_running(void **state)
{
	uint64_t nr = 0;

	(void)state;
	assert_true(load_running("0.20 0.18 0.12 13/81 11206\n", &nr));
	assert_int_equal(nr, 13);
	assert_false(load_running("0.20 0.18 0.12\n", &nr));
	assert_false(load_running("0.20 0.18 0.12 x/81\n", &nr));
	assert_false(load_running("0.20 0.18 0.12 1\n", &nr));
}

static void test_usage(void **state)
{
	uint64_t us = 0;

	(void)state;
	assert_true(load_usage("usage_usec 123456\nuser_usec 3\n", &us));
	assert_int_equal(us, 123456);
	assert_true(load_usage("user_usec 3\nusage_usec 7\n", &us));
	assert_int_equal(us, 7);
	assert_false(load_usage("core_usage_usec 7\n", &us));
	assert_false(load_usage("123456\n", &us));
}

static void test_a_group_that_is_not_there_is_refused(void **state)
{
	struct trigger_list l = { .v = NULL };
	struct load_watch w;
	int err;

	(void)state;
	assert_int_equal(trigger_list_add(&l, "--trigger", "cgroup:/no/such/group cpu>5%"), 0);
	stderr_begin();
	err = load_watch_open(&w, &l);
	assert_non_null(strstr(stderr_end(), "no such control group"));
	assert_int_equal(err, -ENOENT);
	load_watch_close(&w);
	trigger_list_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pressure),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_a_group_that_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
