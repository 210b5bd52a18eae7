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

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/io.h"

static void test_pread(void **state)
{
	int fd = memfd_create("io", 0);
	char buf[8];

	(void)state;
	assert_int_equal(io_write(fd, "0123456789", 10, NULL), 0);
	assert_int_equal(io_pread(fd, buf, 4, 3), 4);
	assert_memory_equal(buf, "3456", 4);
	assert_int_equal(io_pread(fd, buf, 8, 6), 4);		/* short at the end */
	assert_int_equal(io_pread(fd, buf, 8, 10), 0);
	assert_int_equal(io_pread(-1, buf, 8, 0), -EBADF);
	close(fd);
}

/* A pipe takes 64 KiB at a time: the rest has to follow, and what fitted is counted when it cannot. */
static void test_write_counts_what_fitted(void **state)
{
	char *data = calloc(1, 200000);
	size_t done = 0;
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	assert_int_equal(io_write(p[1], data, 200000, &done), -EAGAIN);
	assert_int_equal(done, 65536);
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(io_write(p[1], data, 10, &done), -EPIPE);
	assert_int_equal(done, 0);
	close(p[1]);
	free(data);
}

static void test_full_device(void **state)
{
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_int_equal(io_write(fd, "x", 1, NULL), -ENOSPC);
	close(fd);
}

static void test_read_file(void **state)
{
	char path[] = "/tmp/test_io.XXXXXX", *text = NULL, big[10000];
	int fd = mkstemp(path);

	(void)state;
	memset(big, 'x', sizeof(big));
	assert_int_equal(io_write(fd, big, sizeof(big), NULL), 0);
	assert_int_equal(io_read_file(path, &text, 10000), 10000);
	assert_memory_equal(text, big, sizeof(big));
	assert_int_equal(text[10000], 0);
	free(text);
	assert_int_equal(io_read_file(path, &text, 9999), -EFBIG);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(io_read_file(path, &text, 10), 0);
	assert_string_equal(text, "");
	free(text);
	close(fd);
	unlink(path);
	assert_int_equal(io_read_file(path, &text, 10), -ENOENT);
	assert_int_equal(io_read_file("/tmp", &text, 10), -EISDIR);
}

/* Files of /proc have no size and may come in pieces. */
static void test_read_proc(void **state)
{
	char *text = NULL;

	(void)state;
	assert_true(io_read_file("/proc/self/status", &text, 1 << 20) > 100);
	assert_non_null(strstr(text, "Pid:"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pread),
		cmocka_unit_test(test_write_counts_what_fitted),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_read_file),
		cmocka_unit_test(test_read_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
