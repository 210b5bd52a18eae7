/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/flight/trigger.h"
#include "tests/unit/stderr_text.h"

static struct trigger parse(const char *text)
{
	struct trigger_list l = { .v = NULL };
	struct trigger t;

	assert_int_equal(trigger_list_add(&l, "--trigger", text), 0);
	assert_int_equal(l.nr, 1);
	t = l.v[0];
	trigger_list_release(&l);
	assert_string_equal(t.text, text);
	return t;
}

static void test_pressure(void **state)
{
	struct trigger t = parse("psi:cpu>20%");

	(void)state;
	assert_int_equal(t.kind, TRIGGER_PSI);
	assert_string_equal(t.what, "cpu");
	assert_false(t.is_full);
	assert_true(t.limit == 20 && t.window_ns == 1000000000);
	t = parse("psi:io:full>0.5% over 2.5s");
	assert_string_equal(t.what, "io");
	assert_true(t.is_full && t.limit == 0.5 && t.window_ns == 2500000000);
	t = parse("psi:memory:some>99% over 10");
	assert_string_equal(t.what, "memory");
	assert_true(!t.is_full && t.limit == 99 && t.window_ns == 10000000000);
}

static void test_the_others(void **state)
{
	struct trigger t = parse("runq>8");

	(void)state;
	assert_true(t.kind == TRIGGER_RUNQ && t.limit == 8);
	t = parse("d-state>1500ms");
	assert_true(t.kind == TRIGGER_D_STATE && t.window_ns == 1500000000);
	t = parse("d-state>2m");
	assert_true(t.window_ns == 120000000000);
	t = parse("probe:u:app:f");
	assert_int_equal(t.kind, TRIGGER_PROBE);
	assert_string_equal(t.what, "u:app:f");
}

/* A path may have blanks, and even what looks like the end of it. */
static void test_cgroup(void **state)
{
	struct trigger t = parse("cgroup:/a b/c cpu>150% over 2s");

	(void)state;
	assert_int_equal(t.kind, TRIGGER_CGROUP);
	assert_string_equal(t.what, "/a b/c");
	assert_true(t.limit == 150 && t.window_ns == 2000000000);
	t = parse("cgroup:a cpu>1% cpu>200%");
	assert_string_equal(t.what, "a cpu>1%");
	assert_true(t.limit == 200);
}

static void refuse(const char *text, const char *why)
{
	struct trigger_list l = { .v = NULL };
	const char *said;
	int err;

	stderr_begin();
	err = trigger_list_add(&l, "--trigger", text);
	said = stderr_end();
	if (err != -EINVAL || l.nr || !strstr(said, why) || !strstr(said, text) ||
	    strchr(said, '\n') != said + strlen(said) - 1 || !strstr(said, ". Try: "))
		fail_msg("%s: %d, %s", text, err, said);
	trigger_list_release(&l);
}

static void test_mistakes_are_one_line(void **state)
{
	static const struct { const char *text, *why; } rows[] = {
		{ "load>8", "no such trigger" },
		{ "psi:disk>5%", "cpu, memory or io" },
		{ "psi:>5%", "cpu, memory or io" },
		{ "psi:cpu", "> and a share are missing" },
		{ "psi:cpu:most>5%", "some or full" },
		{ "psi:cpu:full>5%", "does not measure full" },
		{ "psi:cpu>5", "in percent" },
		{ "psi:cpu>0%", "no such share" },
		{ "psi:cpu>100%", "no such share" },
		{ "psi:cpu>-5%", "in percent" },
		{ "psi:cpu>1e1%", "in percent" },
		{ "psi:cpu>5% over 100ms", "from 1s to 10s" },
		{ "psi:cpu>5% over 11s", "from 1s to 10s" },
		{ "psi:cpu>5% for 2s", "over TIME" },
		{ "psi:cpu>5.5.5%", "in percent" },
		{ "runq", "a number of threads" },
		{ "runq>8.5", "a number of threads" },
		{ "runq>8 ", "a number of threads" },
		{ "d-state>0", "100ms at least" },
		{ "d-state>5h", "100ms at least" },
		{ "d-state>.s", "100ms at least" },
		{ "cgroup:/a", "cpu>SHARE" },
		{ "cgroup: cpu>5%", "cpu>SHARE" },
		{ "cgroup:/a cpu>5", "in percent" },
		{ "probe:", "an event" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refuse(rows[i].text, rows[i].why);
}

static void test_long_and_many(void **state)
{
	struct trigger_list l = { .v = NULL };
	char text[2 * TRIGGER_TEXT];
	int err = 0;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	memcpy(text, "probe:", 6);
	stderr_begin();
	assert_int_equal(trigger_list_add(&l, "--trigger", text), -EINVAL);
	text[TRIGGER_TEXT - 1] = 0;
	for (int i = 0; i < TRIGGERS_MAX; i++)
		err |= trigger_list_add(&l, "--trigger", text);
	assert_int_equal(err, 0);
	assert_int_equal(trigger_list_add(&l, "--trigger", "runq>1"), -EINVAL);
	stderr_end();
	assert_int_equal(strlen(l.v[0].what), TRIGGER_TEXT - 1 - 6);
	trigger_list_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pressure),
		cmocka_unit_test(test_the_others),
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_mistakes_are_one_line),
		cmocka_unit_test(test_long_and_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
