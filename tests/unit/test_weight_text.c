/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/report/weight_text.h"

static char buf[WEIGHT_TEXT_MAX];

#define IS(weight, unit, want) assert_string_equal(weight_text(weight, unit, buf), want)

static void times(void **state)
{
	(void)state;
	IS(0, "ns", "0 s");
	IS(1, "ns", "1 ns");
	IS(999, "ns", "999 ns");
	IS(1000, "ns", "1.0 us");
	IS(10101010, "ns", "10.1 ms");
	IS(99940000, "ns", "99.9 ms");
	IS(99960000, "ns", "100 ms");		/* never "100.0 ms" */
	IS(306 * 10101010ull, "ns", "3.1 s");
	IS(999499999, "ns", "999 ms");
	IS(999500000, "ns", "1.0 s");		/* never "1000 ms" */
	IS(1234567890123, "ns", "1,235 s");
	IS(UINT64_MAX, "ns", "18,446,744,074 s");
}

static void sizes(void **state)
{
	(void)state;
	IS(0, "bytes", "0 B");
	IS(512, "bytes", "512 B");
	IS(4000000, "bytes", "4.0 MB");
	IS(524288, "bytes", "524 kB");
	IS(UINT64_MAX, "bytes", "18,446,744 TB");
}

static void counts(void **state)
{
	(void)state;
	IS(12041, "count", "12,041");
	IS(1234567, "", "1,234,567");
	IS(306, "samples", "306");
	IS(UINT64_MAX, "count", "18,446,744,073,709,551,615");
	assert_string_equal(weight_text_of(12041, "count", "page-faults", buf), "12,041 page-faults");
	assert_string_equal(weight_text_of(1, "count", "page-faults", buf), "1 page-fault");
	assert_string_equal(weight_text_of(1, "count", "context-switches", buf), "1 context-switch");
	assert_string_equal(weight_text_of(1, "count", "cache-misses", buf), "1 cache-miss");
	assert_string_equal(weight_text_of(1, "samples", "samples", buf), "1 sample");
	assert_string_equal(weight_text_of(0, "samples", "samples", buf), "0 samples");
	assert_string_equal(weight_text_of(1, "count", "s", buf), "1 s");
	assert_string_equal(weight_text_of(1, "count", "class", buf), "1 class");
	assert_string_equal(weight_text_of(5, "ns", "cpu-clock", buf), "5 ns");
}

static void other_units_are_scaled_and_named(void **state)
{
	(void)state;
	IS(0, "cycles", "0 cycles");
	IS(999, "cycles", "999 cycles");
	IS(12300, "cycles", "12.3 k cycles");
	IS(1200000000, "cycles", "1.2 G cycles");
	IS(UINT64_MAX, "cycles", "18,446,744 T cycles");
}

/* A trace says what a unit and an event are called. */
static void foreign_words_are_cut(void **state)
{
	char word[4000];

	(void)state;
	memset(word, 's', sizeof(word));
	word[sizeof(word) - 1] = 0;
	assert_true(strlen(weight_text(UINT64_MAX, word, buf)) < WEIGHT_TEXT_MAX);
	assert_true(strlen(weight_text_of(UINT64_MAX, "count", word, buf)) < WEIGHT_TEXT_MAX);
	assert_memory_equal(buf, "18,446,744,073,709,551,615 sss", 30);
}

/* A probe is told by its function, not by where its file is. */
static void probes_keep_their_functions(void **state)
{
	(void)state;
	assert_string_equal(weight_text_of(2, "count", "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc", buf),
			    "2 uprobe:.../libc.so.6:malloc");
	assert_string_equal(weight_text_of(1, "count", "uprobe:/usr/lib/libc.so.6:fgets", buf),
			    "1 uprobe:/usr/lib/libc.so.6:fgets");
	assert_string_equal(weight_text_of(1, "count", "page-faults", buf), "1 page-fault");
}

static void sums_do_not_wrap(void **state)
{
	(void)state;
	assert_true(weight_sum(1, 2) == 3);
	assert_true(weight_sum(UINT64_MAX, 0) == UINT64_MAX);
	assert_true(weight_sum(UINT64_MAX - 1, 1) == UINT64_MAX);
	assert_true(weight_sum(UINT64_MAX - 1, 2) == UINT64_MAX);
	assert_true(weight_sum(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(sizes),
		cmocka_unit_test(counts),
		cmocka_unit_test(other_units_are_scaled_and_named),
		cmocka_unit_test(foreign_words_are_cut),
		cmocka_unit_test(probes_keep_their_functions),
		cmocka_unit_test(sums_do_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
