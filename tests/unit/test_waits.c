#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_waits;

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
	static const struct render_opts other = { .walk = 7 };
	char *text = fixture_render(&renderer_waits, &other, NULL);

	(void)state;
	assert_string_equal(text, "There are no rows of walk 7 here\n");
	free(text);
}

static void keeps_hostile_names_harmless(void **state)
{
	char *text = fixture_render(&renderer_waits, &plain, hostile_names);

	(void)state;
	for (char *p = text; (p = strchr(p, '\t')); p++)
		*p = ' ';	/* our own */
	check_is_harmless(text);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_who_waits_for_whom),
		cmocka_unit_test(says_that_there_is_nothing),
		cmocka_unit_test(keeps_hostile_names_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
