/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/report/cpu_check.h"
#include "src/report/trace_summary.h"

static void counts_cpus(void **state)
{
	static const struct {
		const char *list;
		uint32_t nr;
	} cases[] = {
		{ "0", 1 }, { "0-3", 4 }, { "0-3,7", 5 }, { "0,2-5,8-8", 6 }, { "0-1023", 1024 }, { "", 0 }, { "x", 0 },
		{ "0-", 0 }, { "3-1", 0 }, { "0;1", 0 }, { "0-99999999999999999999", 0 }, { "0-4294967295", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(cpu_list_count(cases[i].list), cases[i].nr);
	assert_int_equal(cpu_list_count(NULL), 0);
}

/* Two CPUs, ten seconds; walks: busy ones of the CPUs of 100 walks. */
static const char *warning(const char *busy, uint64_t scans_busy, double own_s)
{
	static char text[256];
	struct report_info info = { .nr_segments = 1, .online_cpus = 2, .duration_ns = 10 * NSEC_PER_SEC };
	struct cpu_check c;

	info.scans.busy_cpus = scans_busy;
	info.scans.busy_scans = info.scans.count = 100;
	info.end.cpu_time_ns = (uint64_t)(own_s * NSEC_PER_SEC);
	cpu_check_read(&c, busy, &info);
	cpu_check_warning(&c, text, sizeof(text));
	return text;
}

static void warns_beyond_chance(void **state)
{
	(void)state;
	assert_string_equal(warning("samples=0.500 stat=0.510 ticks=1980 walks=1", 104, 0), "");
	assert_string_equal(warning("samples=0.300 stat=0.510 ticks=1980 walks=1", 104, 0),
			    "CPUs were busy for 30.0 % by samples, 52.0 % by snapshots, 51.0 % by /proc/stat of their time: "
			    "samples and /proc/stat differ by more than chance explains");
	/* As far apart, but of a hundredth of the ticks. */
	assert_string_equal(warning("samples=0.300 stat=0.510 ticks=20", 0, 0), "");
	/* Walks of a part of the machine say nothing. */
	assert_string_equal(warning("samples=0.500 stat=0.510 ticks=1980", 0, 0), "");
	assert_string_equal(warning("stat=0.900", 0, 0), "");
	assert_non_null(strstr(warning("stat=0.900 walks=1", 20, 0), "snapshots and /proc/stat differ"));
	assert_string_equal(warning("stat=0.100 walks=1", 28, 0), "");
	/* What probee itself used is in the kernel's accounts only. */
	assert_non_null(strstr(warning("samples=0.100 stat=0.200 ticks=1980", 0, 0), "differ"));
	assert_string_equal(warning("samples=0.100 stat=0.200 ticks=1980", 0, 2), "");
	/* All or nothing is no certainty either. */
	assert_string_equal(warning("samples=0.000 stat=0.030 ticks=1980", 0, 0), "");
	assert_non_null(strstr(warning("samples=0.000 stat=1.000 ticks=1980", 0, 0), "differ"));
}

static void ignores_what_is_no_share(void **state)
{
	static const char *const bad[] = {
		NULL, "", "samples", "samples=x stat=", "samples=nan stat=0.9 ticks=1980", "samples=-1 stat=0.9 ticks=1980",
		"samples=0.1 stat=inf ticks=1980", "samples=0.1 stat=0.9 ticks=-5", "xsamples=0.1 stat=0.9 ticks=1980",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(warning(bad[i], 100, 0), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_cpus), cmocka_unit_test(warns_beyond_chance),
		cmocka_unit_test(ignores_what_is_no_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
