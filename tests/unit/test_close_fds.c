/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors are closed with close_range(2), and where a filter refuses that. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/close_fds.h"

enum { MOST = 1000, MADE = 200 };

struct numbers {
	unsigned first, last;
};

static bool forbid(unsigned call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* 0: of those that were open all in the range are closed, and all others are still open. */
static int closes(struct numbers n)
{
	bool was_open[MOST];

	for (int i = 0; i < MADE; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			return 3;
	for (int fd = 0; fd < MOST; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	if (!close_fds(n.first, n.last))
		return 4;
	for (int fd = 0; fd < MOST; fd++) {
		bool is_in = (unsigned)fd >= n.first && (unsigned)fd <= n.last;

		if ((fcntl(fd, F_GETFD) >= 0) != (was_open[fd] && !is_in))
			return 5;
	}
	return 0;
}

/* In a child, without these calls. */
static int closes_without(const unsigned *calls, size_t nr, struct numbers n)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		for (size_t i = 0; i < nr; i++)
			if (!forbid(calls[i]))
				_exit(77);
		_exit(closes(n));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_each_way(void **state)
{
	static const unsigned calls[] = { SYS_close_range, SYS_getdents64 };
	static const struct numbers ranges[] = {
		{ 3, UINT_MAX }, { 5, 63 }, { 64, 64 }, { 100, 150 }, { 9, 8 },
	};

	(void)state;
	for (size_t nr = 0; nr <= 2; nr++)
		for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
			int rc = closes_without(calls, nr, ranges[i]);

			if (rc == 77)
				skip();
			assert_int_equal(rc, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_way) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
