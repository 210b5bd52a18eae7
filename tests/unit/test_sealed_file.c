/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/foreign/sealed_file.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* The end of a pipe whose other end sees when nobody has it any more. */
static void test_opened_again_and_again(void **state)
{
	int pipes[2], seal, copy, fd;
	char byte;

	(void)state;
	assert_int_equal(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
	seal = sealed_file_new(pipes[1]);
	assert_true(seal >= 0);
	assert_true(fcntl(seal, F_GETFD) & FD_CLOEXEC);
	close(pipes[1]);
	for (int i = 0; i < 3; i++) {
		fd = sealed_file_open(seal);
		assert_true(fd >= 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(write(fd, "x", 1), 1);
		close(fd);
		assert_int_equal(read(pipes[0], &byte, 1), 1);
	}
	copy = fcntl(seal, F_DUPFD_CLOEXEC, 3);
	close(seal);
	assert_int_equal(read(pipes[0], &byte, 1), -1);
	assert_int_equal(errno, EAGAIN);
	close(copy);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
}

static void test_no_seal(void **state)
{
	int pipes[2];

	(void)state;
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(sealed_file_open(pipes[0]), -ENOTSOCK);
	assert_true(is_open(pipes[0]));
	assert_int_equal(sealed_file_new(-1), -EBADF);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opened_again_and_again),
		cmocka_unit_test(test_no_seal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
