/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open files in messages: /proc says which file a descriptor is of, and how many are open. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/fd_message.h"

static int ends[2];

static int open_ends(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int close_ends(void **state)
{
	(void)state;
	return close(ends[0]) || close(ends[1]);
}

static size_t nr_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t nr = 0;

	while (d && readdir(d))
		nr++;
	if (d)
		closedir(d);
	return nr;
}

static bool are_same(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static ssize_t give(const int *fds, size_t nr)
{
	struct fd_message m;
	char text[] = "abc";

	fd_message_init(&m, text, sizeof(text));
	fd_message_attach(&m, fds, nr);
	return fd_message_send(ends[0], &m, 0);
}

static void test_files_arrive(void **state)
{
	int sent[2] = { open("/", O_RDONLY | O_CLOEXEC), open("/proc", O_RDONLY | O_CLOEXEC) };
	int came[4] = { -1, -1, -1, -1 };
	struct fd_message m;
	char text[8] = "";
	bool lost;

	(void)state;
	assert_int_equal(give(sent, 2), 4);
	fd_message_init(&m, text, sizeof(text));
	assert_int_equal(fd_message_receive(ends[1], &m, 0), 4);
	assert_string_equal(text, "abc");
	assert_int_equal(fd_message_take(&m, came, 4, &lost), 2);
	assert_false(lost);
	for (int i = 0; i < 2; i++) {
		assert_true(are_same(came[i], sent[i]));
		assert_int_equal(fcntl(came[i], F_GETFD), FD_CLOEXEC);
		close(came[i]);
		close(sent[i]);
	}
}

static void test_none_comes(void **state)
{
	struct fd_message m;
	char text[8];

	(void)state;
	assert_int_equal(give(NULL, 0), 4);
	fd_message_init(&m, text, sizeof(text));
	assert_int_equal(fd_message_receive(ends[1], &m, 0), 4);
	assert_int_equal(fd_message_take_one(&m), -1);
	fd_message_init(&m, text, sizeof(text));
	assert_int_equal(fd_message_receive(ends[1], &m, MSG_DONTWAIT), -EAGAIN);
}

/* None stays open. */
static void test_too_many(void **state)
{
	int sent[FD_MESSAGE_MAX], came[3];
	struct fd_message m;
	size_t before = nr_open();
	char text[8];
	bool lost;

	(void)state;
	for (int i = 0; i < FD_MESSAGE_MAX; i++)
		sent[i] = ends[0];
	assert_int_equal(give(sent, FD_MESSAGE_MAX), 4);
	fd_message_init(&m, text, sizeof(text));
	assert_int_equal(fd_message_receive(ends[1], &m, 0), 4);
	assert_int_equal(fd_message_take(&m, came, 3, &lost), 3);
	assert_true(lost);
	assert_int_equal(nr_open(), before + 3);
	for (int i = 0; i < 3; i++)
		close(came[i]);
}

static void test_refused(void **state)
{
	size_t before = nr_open();
	struct fd_message m;
	char text[8];
	bool lost;
	int fd;

	(void)state;
	assert_int_equal(give(ends, 1), 4);
	fd_message_init(&m, text, sizeof(text));
	fd_message_refuse(&m);
	assert_int_equal(fd_message_receive(ends[1], &m, 0), 4);
	assert_int_equal(fd_message_take(&m, &fd, 1, &lost), 0);
	assert_true(lost);
	assert_int_equal(nr_open(), before);
}

/* The kernel has no number left for the second file. */
static void test_no_descriptor(void **state)
{
	struct rlimit lim, few;
	int sent[2], came[2], free_fd;
	struct fd_message m;
	char text[8];
	bool lost;

	(void)state;
	sent[0] = sent[1] = ends[0];
	assert_int_equal(give(sent, 2), 4);
	free_fd = dup(ends[0]);
	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &lim), 0);
	few = (struct rlimit){ (rlim_t)free_fd + 1, lim.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	fd_message_init(&m, text, sizeof(text));
	assert_int_equal(fd_message_receive(ends[1], &m, 0), 4);
	assert_int_equal(fd_message_take(&m, came, 2, &lost), 1);
	assert_true(lost);
	close(came[0]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &lim), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files_arrive, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_none_comes, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_too_many, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_refused, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_no_descriptor, open_ends, close_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
