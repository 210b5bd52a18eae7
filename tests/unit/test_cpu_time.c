/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/proc/cpu_time.h"

static int read_text(const char *text, struct cpu_time *out)
{
	char path[] = "/tmp/probee-stat.XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	rc = cpu_time_read(path, out);
	unlink(path);
	return rc;
}

static void test_fields(void **state)
{
	struct cpu_time a, b;

	(void)state;
	assert_int_equal(read_text("cpu  100 20 30 800 50 6 4 9 70 2\ncpu0 1 2 3 4 5 6 7 8 9\n", &a), 0);
	assert_int_equal(a.busy, 160);		/* not idle, not waiting, not stolen; guests are part of user */
	assert_int_equal(a.all, 1010);
	assert_int_equal(read_text("cpu  150 20 30 850 50 6 4 999\n", &b), 0);
	assert_true(cpu_time_share(&a, &b) > 0.499 && cpu_time_share(&a, &b) < 0.501);
	assert_true(cpu_time_share(&b, &b) < 0);
}

static void test_bad(void **state)
{
	struct cpu_time t;

	(void)state;
	assert_int_equal(read_text("intr 5\n", &t), -EBADMSG);
	assert_int_equal(read_text("cpu  1 2\n", &t), -EBADMSG);
	assert_int_equal(cpu_time_read("/nonexistent/stat", &t), -ENOENT);
	assert_int_equal(cpu_time_read(NULL, &t), 0);
	assert_true(t.all > t.busy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
