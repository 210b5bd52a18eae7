/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children for what may block: what they hold, and that nobody waits for one that hangs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "src/base/clock.h"
#include "src/base/helper_process.h"

/* The child says which of the first 64 fds are open. */
static void report_fds(int to)
{
	uint64_t open_fds = 0;

	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			open_fds |= 1ull << fd;
	_exit(write(to, &open_fds, sizeof(open_fds)) != sizeof(open_fds));
}

static void test_holds_only_its_fds(void **state)
{
	int a[2], b[2], other = open("/dev/zero", O_RDONLY), fds[2];
	uint64_t open_fds = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	fds[0] = b[0];		/* the other way round than their numbers */
	fds[1] = a[1];
	pid = helper_fork(fds, 2);
	assert_true(pid >= 0);
	if (!pid)
		report_fds(4);
	assert_int_equal(read(a[0], &open_fds, sizeof(open_fds)), sizeof(open_fds));
	assert_int_equal(open_fds, 0x1f);	/* 0, 1, 2 and the two */
	helper_end(pid, false);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	close(a[0]), close(a[1]), close(b[0]), close(b[1]), close(other);
}

static void test_end_kills(void **state)
{
	uint64_t before = now_ns();
	pid_t pid = helper_fork(NULL, 0);

	(void)state;
	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	helper_end(pid, false);
	assert_true(now_ns() - before < NSEC_PER_SEC);
	assert_int_equal(kill(pid, 0), -1);
	helper_end(0, false);
	helper_end(-EAGAIN, false);
}

static void test_end_does_not_wait_for_one_that_hangs(void **state)
{
	uint64_t before = now_ns();
	pid_t pid = helper_fork(NULL, 0);

	(void)state;
	if (!pid)
		for (;;)
			pause();
	helper_end(pid, true);
	assert_true(now_ns() - before < NSEC_PER_SEC);
	assert_int_equal(waitpid(pid, NULL, 0), pid);	/* left to us */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds_only_its_fds),
		cmocka_unit_test(test_end_kills),
		cmocka_unit_test(test_end_does_not_wait_for_one_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
