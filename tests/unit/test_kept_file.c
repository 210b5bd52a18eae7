/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/foreign/kept_file.h"

/* It leads to the file when all its names are gone, and a new file has them. */
static void test_opened_again_and_again(void **state)
{
	char path[] = "/tmp/kept_file.XXXXXX", text[8] = "";
	int fd = mkstemp(path), kept, other;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "first", 5), 5);
	kept = kept_file_new(fd);
	assert_true(kept >= 0);
	assert_true(kept_file_is(kept));
	assert_false(kept_file_is(fd));
	assert_true(fcntl(kept, F_GETFD) & FD_CLOEXEC);
	close(fd);
	assert_int_equal(unlink(path), 0);
	other = open(path, O_CREAT | O_WRONLY | O_EXCL, 0600);
	assert_int_equal(write(other, "other", 5), 5);
	for (int i = 0; i < 3; i++) {
		fd = kept_file_open(kept);
		assert_true(fd >= 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(read(fd, text, 5), 5);
		assert_string_equal(text, "first");
		close(fd);
	}
	/* What stands for it cannot be read. */
	assert_int_equal(read(kept, text, 5), -1);
	assert_int_equal(errno, EBADF);
	close(kept);
	close(other);
	unlink(path);
}

static void test_no_file(void **state)
{
	(void)state;
	assert_true(kept_file_new(-1) < 0);
	assert_true(kept_file_open(-1) < 0);
	assert_false(kept_file_is(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opened_again_and_again),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
