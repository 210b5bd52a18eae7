/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls are filtered, or it is said that they cannot be (what it forbids: test_sandbox.c). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/rights/call_filter.h"
#include "src/rights/sandbox.h"

enum { BELOW = 256 << 10, MOST = 1 << 20, STEP = 4 << 10 };	/* bytes */

/* A filter where there is little memory: it is made, or refused with -ENOMEM. */
static int filter_within(size_t extra)
{
	const struct sandbox_rules rules = { .kind = SANDBOX_REPORT };
	struct rlimit l = { .rlim_max = RLIM_INFINITY };
	unsigned long data_pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*u %*u %*u %*u %*u %lu", &data_pages) != 1)
		return -EIO;
	fclose(f);
	l.rlim_cur = data_pages * (rlim_t)sysconf(_SC_PAGESIZE) - BELOW + extra;
	return setrlimit(RLIMIT_DATA, &l) ? -errno : call_filter_load(&rules);
}

static void test_little_memory(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();			/* its own allocator ends the process */
#endif
	for (size_t extra = 0; extra <= MOST; extra += STEP) {
		pid_t pid = fork();
		int status, err;

		if (!pid) {
			err = filter_within(extra);
			_exit(err && err != -ENOMEM);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_little_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
