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

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/caps.h"

static void test_names(void **state)
{
	char buf[64];

	(void)state;
	assert_int_equal(caps_names(0, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(caps_names(CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON), buf, sizeof(buf)), 2);
	assert_string_equal(buf, "cap_bpf,cap_perfmon");
	assert_int_equal(caps_names(UINT64_MAX, buf, 10), 9);	/* cut, never past the end */
	assert_string_equal(buf, "cap_bpf,c");
}

/* What the kernel shows as text in /proc must be what capget() said, but for what SYS_ADMIN contains. */
static void test_effective(void **state)
{
	const uint64_t implied = CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON);
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long shown = 0;
	char line[256];

	(void)state;
	while (fgets(line, sizeof(line), f) && sscanf(line, "CapEff: %llx", &shown) != 1)
		;
	fclose(f);
	assert_int_equal(caps_effective() & ~implied, shown & ~implied);
	assert_int_equal(caps_effective() & implied,
			 shown & CAP_BIT(CAP_SYS_ADMIN) ? implied : shown & implied);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_effective),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
