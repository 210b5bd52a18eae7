/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/io.h"
#include "src/base/timed_reader.h"

#define NEVER_ANSWERS "never"
#define ANSWERS_LATE "late"

static atomic_bool is_free;		/* the lock that ANSWERS_LATE waits for */

/* As a file does whose owner holds a lock for ever, or for long. */
static ssize_t read_or_hang(const char *path, char **out, size_t max)
{
	while (!strcmp(path, ANSWERS_LATE) && !atomic_load(&is_free))
		usleep(1000);
	while (!strcmp(path, NEVER_ANSWERS))
		pause();
	return io_read_file(path, out, max);
}

static void test_reads(void **state)
{
	struct timed_reader *r = timed_reader_new(read_or_hang, 5000);
	char *text;

	(void)state;
	assert_non_null(r);
	for (int i = 0; i < 1000; i++) {
		assert_true(timed_reader_get(r, "/proc/self/maps", 1 << 20, &text) > 100);
		assert_non_null(strstr(text, "[vdso]"));
		free(text);
	}
	assert_int_equal(timed_reader_get(r, "/proc/0/maps", 1 << 20, &text), -ENOENT);
	assert_null(text);
	timed_reader_free(r);
}

static void test_goes_on_behind_one_that_hangs(void **state)
{
	struct timed_reader *r = timed_reader_new(read_or_hang, 3000);
	uint64_t begin = now_ns();
	char *text;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(timed_reader_get(r, NEVER_ANSWERS, 4096, &text), -ETIMEDOUT);
		assert_null(text);
		assert_true(timed_reader_get(r, "/proc/self/stat", 4096, &text) > 10);
		free(text);
	}
	/* The second and the third have a tenth of the time. */
	assert_true(now_ns() - begin >= 3600 * NSEC_PER_MSEC);
	timed_reader_free(r);
}

static void test_leaves_not_any_number_behind(void **state)
{
	struct timed_reader *r = timed_reader_new(read_or_hang, 1);
	int nr = 0;
	char *text;

	(void)state;
	while (nr < 1000 && timed_reader_get(r, NEVER_ANSWERS, 4096, &text) == -ETIMEDOUT)
		nr++;
	assert_int_equal(nr, 256);
	assert_int_equal(timed_reader_get(r, "/proc/self/stat", 4096, &text), -EBUSY);
	timed_reader_free(r);
}

static void test_takes_back_those_that_return(void **state)
{
	struct timed_reader *r = timed_reader_new(read_or_hang, 1);
	uint64_t until = now_ns() + 20 * NSEC_PER_SEC;
	ssize_t n;
	char *text;

	(void)state;
	while ((n = timed_reader_get(r, ANSWERS_LATE, 4096, &text)) == -ETIMEDOUT)
		continue;
	assert_int_equal(n, -EBUSY);
	atomic_store(&is_free, true);
	while ((n = timed_reader_get(r, "/proc/self/stat", 4096, &text)) < 0 && now_ns() < until)
		usleep(10000);
	assert_true(n > 10);
	free(text);
	timed_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_goes_on_behind_one_that_hangs),
		cmocka_unit_test(test_leaves_not_any_number_behind),
		cmocka_unit_test(test_takes_back_those_that_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
