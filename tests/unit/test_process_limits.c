/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/process_limits.h"

enum said { SAID_NOTHING = 10, SAID_IT, SAID_ANOTHER };

static int explain(int err, const char *why, const char *hint)
{
	struct limit_cause c;

	errno = 5;
	if (!process_limits_explain(err, &c))
		return errno == 5 ? SAID_NOTHING : 99;
	return strstr(c.why, why) && strstr(c.hint, hint) && errno == 5 ? SAID_IT : SAID_ANOTHER;
}

/* What a process with this limit says of an error. */
static int said_under(int resource, rlim_t limit, int err, const char *why, const char *hint)
{
	const struct rlimit lim = { limit, limit };
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setrlimit(resource, &lim) ? 98 : explain(err, why, hint));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_memory(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();		/* it reserves more address space than any limit has */
#endif
	assert_int_equal(said_under(RLIMIT_AS, 4096, -ENOMEM, "may have 0.0 MiB (ulimit -v)", "ulimit -v"),
			 SAID_IT);
	assert_int_equal(said_under(RLIMIT_DATA, 4096, -ENOMEM, "(ulimit -d)", "ulimit -d"), SAID_IT);
	assert_int_equal(said_under(RLIMIT_DATA, 4096, -EAGAIN, "(ulimit -d)", "ulimit -d"), SAID_IT);
	/* There is room left. */
	assert_int_equal(said_under(RLIMIT_DATA, 1ull << 40, -ENOMEM, "", ""), SAID_NOTHING);
	assert_int_equal(said_under(RLIMIT_AS, 4096, -EACCES, "", ""), SAID_NOTHING);
}

static void test_files(void **state)
{
	(void)state;
	assert_int_equal(said_under(RLIMIT_NOFILE, 5, -EMFILE, "5 files may be open at a time", "ulimit -n "), SAID_IT);
	assert_int_equal(said_under(RLIMIT_NOFILE, 5, -ENFILE, "", ""), SAID_NOTHING);
	assert_int_equal(said_under(RLIMIT_FSIZE, 4096, -EFBIG, "a file may have 4.0 KiB (ulimit -f)", "ulimit -f"),
			 SAID_IT);
	assert_int_equal(said_under(RLIMIT_FSIZE, RLIM_INFINITY, -EFBIG, "", ""), SAID_NOTHING);
	/* As in a sandbox. */
	assert_int_equal(said_under(RLIMIT_FSIZE, 0, -EFBIG, "", ""), SAID_NOTHING);
}

/* Another user's processes are counted, of whom there are none but this one. */
static void test_tasks(void **state)
{
	const struct rlimit lim = { 1, 1 };
	pid_t pid;
	int status;

	(void)state;
	if (getuid())
		skip();
	pid = fork();
	if (!pid) {
		if (setrlimit(RLIMIT_NPROC, &lim) || setresuid(64999, 64999, 64999))
			_exit(98);
		_exit(explain(-EAGAIN, "this user may have 1 process or thread (ulimit -u), and has 1",
			      "ulimit -u 65"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), SAID_IT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
