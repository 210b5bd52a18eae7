/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said about hidden kernel addresses, for each way in which the kernel may hide them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/symbolize/kernel_hidden.h"

static const struct {
	struct kernel_hidden h;
	const char *cause, *remedy;
} cases[] = {
	{ { 2, 4, true, false }, "kptr_restrict is 2, which hides them from root as well",
	  "sudo sysctl kernel.kptr_restrict=1" },
	{ { 2, 0, false, false }, "kptr_restrict is 2, which hides them from root as well",
	  "sudo sysctl kernel.kptr_restrict=1, and run it as root" },
	{ { 1, 4, false, false }, "kptr_restrict is 1 and CAP_SYSLOG is missing",
	  "run it as root or with cap_syslog" },
	{ { 1, -1, false, false }, "kptr_restrict is 1 and CAP_SYSLOG is missing",
	  "run it as root or with cap_syslog" },
	{ { 0, 2, false, false }, "perf_event_paranoid is 2 and CAP_SYSLOG is missing",
	  "run it as root or with cap_syslog, or: sudo sysctl kernel.perf_event_paranoid=1" },
	{ { SETTING_UNKNOWN, SETTING_UNKNOWN, false, false }, "CAP_SYSLOG is missing",
	  "run it as root or with cap_syslog" },
	{ { 1, 2, true, true }, "CAP_SYSLOG of a user namespace does not count for them",
	  "run it outside the container" },
	{ { 0, 2, true, false }, "something other than kptr_restrict hides them",
	  "run it outside the container" },
};

static void test_texts(void **state)
{
	char cause[128], remedy[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kernel_hidden_text(&cases[i].h, cause, sizeof(cause), remedy, sizeof(remedy));
		assert_string_equal(cause, cases[i].cause);
		assert_string_equal(remedy, cases[i].remedy);
	}
}

static int setting(const char *path)
{
	FILE *f = fopen(path, "re");
	int v = SETTING_UNKNOWN;

	if (f && fscanf(f, "%d", &v) != 1)
		v = SETTING_UNKNOWN;
	if (f)
		fclose(f);
	return v;
}

static void test_look(void **state)
{
	struct kernel_hidden h;

	(void)state;
	kernel_hidden_look(&h);
	assert_int_equal(h.kptr_restrict, setting("/proc/sys/kernel/kptr_restrict"));
	assert_int_equal(h.perf_event_paranoid, setting("/proc/sys/kernel/perf_event_paranoid"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
