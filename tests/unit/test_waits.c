/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_waits, renderer_waits_json;

static const struct render_opts plain;

static void shows_who_waits_for_whom(void **state)
{
	char *text = fixture_render(&renderer_waits, &plain, NULL);

	(void)state;
	check_golden(text, "fixture.waits");
	free(text);
}

static void says_that_there_is_nothing(void **state)
{
	static const struct render_opts other = { .scan = 7 };
	char *text = fixture_render(&renderer_waits, &other, NULL);

	(void)state;
	assert_string_equal(text, "There are no rows of snapshot 7 here\n");
	free(text);
}

static void keeps_hostile_names_harmless(void **state)
{
	char *text = fixture_render(&renderer_waits, &plain, hostile_names);

	(void)state;
	check_is_harmless(text);
	free(text);
}

static void is_json(void **state)
{
	char *text = fixture_render(&renderer_waits_json, &plain, NULL);
	char *hostile = fixture_render(&renderer_waits_json, &plain, hostile_names);

	(void)state;
	check_golden(text, "fixture.waits.json");
	assert_true(is_liked_by("jq", "jq -e '.threads | map(select(.waits_for == 101 and .futex == \"0x7700\" and "
				"(.tid | . == 100))) | length == 1' >/dev/null", text));
	assert_true(is_liked_by("python3", "python3 -c 'import json, sys; json.load(sys.stdin)'", hostile));
	free(text);
	free(hostile);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_who_waits_for_whom),
		cmocka_unit_test(says_that_there_is_nothing),
		cmocka_unit_test(keeps_hostile_names_harmless), cmocka_unit_test(is_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
