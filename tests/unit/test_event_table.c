/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "src/base/opt.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/event_table.h"
#include "src/model/record.h"

#include <cmocka.h>

#include "tests/unit/stderr_text.h"

static const struct opt event_opt = { 'e', "event", "EVENTS", "", event_list_parse, 0, NULL, NULL,
				      NULL };

static int parse(const char *text, struct event_list *l)
{
	return event_list_parse(&event_opt, text, l);
}

static void test_names_and_aliases_of_perf(void **state)
{
	struct event_list l = { 0 };

	(void)state;
	assert_int_equal(parse("cpu-clock,faults", &l), 0);
	assert_int_equal(parse("cs", &l), 0);
	assert_int_equal(l.nr, 3);
	assert_string_equal(l.v[0].type->name, "cpu-clock");
	assert_string_equal(l.v[1].type->name, "page-faults");
	assert_string_equal(l.v[2].type->name, "context-switches");
	assert_true(l.v[0].type->by_time);
	assert_int_equal(l.v[0].type->kind, EVENT_CPU_CLOCK);
	assert_int_equal(l.v[1].type->kind, EVENT_SOFTWARE);
	assert_string_equal(l.v[1].type->unit, "count");
}

static void test_a_period_is_for_what_counts(void **state)
{
	struct event_list l = { 0 };

	(void)state;
	assert_int_equal(parse("cpu-clock,page-faults,cs/period=7/,cycles/freq=11.5/", &l), 0);
	assert_int_equal(event_list_complete(&l, 99, 100), 0);
	assert_true(l.v[0].freq_hz == 99 && !l.v[0].period);
	assert_true(l.v[1].period == 100 && l.v[1].freq_hz == 0);
	assert_true(l.v[2].period == 7 && l.v[2].freq_hz == 0);
	assert_true(l.v[3].freq_hz == 11.5 && !l.v[3].period);
	assert_int_equal(event_spec_period_ns(&l.v[0]), 10101010);
}

static void test_modes_make_other_events(void **state)
{
	struct event_list l = { 0 };

	(void)state;
	assert_int_equal(parse("cpu-clock,cpu-clock:u,cpu-clock:k/freq=7/,dTLB-load-misses:uk", &l), 0);
	assert_int_equal(l.nr, 4);
	assert_string_equal(l.v[0].name, "cpu-clock");
	assert_string_equal(l.v[1].name, "cpu-clock:u");
	assert_string_equal(l.v[2].name, "cpu-clock:k");
	assert_string_equal(l.v[3].name, "dTLB-load-misses");
	assert_true(l.v[1].no_kernel && !l.v[1].no_user);
	assert_true(l.v[2].no_user && !l.v[2].no_kernel && l.v[2].freq_hz == 7);
	assert_true(!l.v[3].no_user && !l.v[3].no_kernel);
	assert_int_equal(l.v[3].type->config, 3 | 0 << 8 | 1 << 16);
}

static void test_exact_places(void **state)
{
	struct event_list l = { 0 };

	(void)state;
	assert_int_equal(parse("cycles:pp,cycles:upp,r13c:kp/", &l), -EINVAL);
	event_list_release(&l);
	assert_int_equal(parse("cycles:pp,cycles:upp,r13c:kp", &l), 0);
	assert_string_equal(l.v[0].name, "cycles:pp");
	assert_true(l.v[0].precise == 2 && !l.v[0].no_kernel && !l.v[0].no_user);
	assert_string_equal(l.v[1].name, "cycles:upp");
	assert_true(l.v[1].precise == 2 && l.v[1].no_kernel);
	assert_int_equal(l.v[2].type->config, 0x13c);
	assert_true(l.v[2].precise == 1 && l.v[2].no_user);
	event_list_release(&l);
}

static void test_words_that_are_no_counters(void **state)
{
	struct event_list l = { 0 };

	(void)state;
	assert_int_equal(parse("irq,cs", &l), 0);
	assert_true(l.named == 1u << COLLECTOR_INTERRUPTS && l.nr == 1);
	assert_int_equal(parse("help", &l), 0);
	assert_true(l.wants_help);
	/* Only hexadecimal digits, but no number among them: a function. */
	assert_int_equal(parse("read", &l), 0);
	assert_int_equal(l.probes.nr, 1);
	event_list_release(&l);
}

static void test_without_a_period_all_have_the_frequency(void **state)
{
	struct event_list l = { 0 };

	(void)state;
	assert_int_equal(parse("page-faults", &l), 0);
	assert_int_equal(event_list_complete(&l, 49, 0), 0);
	assert_true(l.v[0].freq_hz == 49 && !l.v[0].period);
}

static void expect_refused(const char *text, const char *words)
{
	struct event_list l = { 0 };
	const char *said;

	stderr_begin();
	assert_int_equal(parse(text, &l), -EINVAL);
	said = stderr_end();
	if (!strstr(said, words))
		print_error("'%s' is refused without '%s': %s", text, words, said);
	assert_non_null(strstr(said, words));
}

static void test_what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	expect_refused("page-fault", "Try: page-faults");
	expect_refused("xyzzy,cs", "cpu-clock, task-clock, page-faults");
	expect_refused("", "no such event");
	expect_refused("cpu-clock,", "no such event");
	expect_refused("cpu-clock,cpu-clock", "there already");
	expect_refused("faults,page-faults", "there already");
	expect_refused("cpu-clock/period=5/", "a clock has a frequency");
	expect_refused("cs/period=0/", "at least 1");
	expect_refused("cs/period=5", "between slashes");
	expect_refused("no_such_pmu/event=1,umask=2/", "no PMU of that name");
	expect_refused("irq:u", "neither modes nor settings");
	expect_refused("cs,irq/period=3/", "neither modes nor settings");
	expect_refused("r13c:z", "--event r13c:z: no such mode");
	expect_refused("cs:pppp", "no such mode");
	expect_refused("cs:x", "no such mode");
	expect_refused("cs:", "no such mode");
	expect_refused("cs:u,cs:u", "there already");
	expect_refused("cs/", "between slashes");
	expect_refused("cs//", "between slashes");
	expect_refused("cs/foo=1/", "no such setting");
}

static void test_a_period_alone_is_no_clock(void **state)
{
	struct event_list l = { 0 };
	const char *said;

	(void)state;
	assert_int_equal(parse("cpu-clock", &l), 0);
	stderr_begin();
	assert_int_equal(event_list_complete(&l, 99, 5), -EINVAL);
	said = stderr_end();
	assert_non_null(strstr(said, "for events that count"));
}

static void test_the_table_has_each_name_once(void **state)
{
	(void)state;
	for (const struct event_type *t = event_types; t->name; t++) {
		assert_ptr_equal(event_type_find(t->name, strlen(t->name)), t);
		if (t->alias)
			assert_ptr_equal(event_type_find(t->alias, strlen(t->alias)), t);
		assert_true(t->kind < EVENT_KINDS);
	}
	assert_string_equal(event_types[0].name, "cycles");
	assert_string_equal(event_types[1].name, "cpu-clock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_aliases_of_perf),
		cmocka_unit_test(test_a_period_is_for_what_counts),
		cmocka_unit_test(test_modes_make_other_events),
		cmocka_unit_test(test_without_a_period_all_have_the_frequency),
		cmocka_unit_test(test_exact_places),
		cmocka_unit_test(test_words_that_are_no_counters),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_a_period_alone_is_no_clock),
		cmocka_unit_test(test_the_table_has_each_name_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
