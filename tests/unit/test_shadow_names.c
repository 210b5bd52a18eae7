/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of shadow frames: they may come before or after the frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/session/shadow_names.h"
#include "src/model/record.h"

static void name_first(void **state)
{
	const struct shadow_name name = { "f", "a.php", 7 }, other = { "g", "b.php", 8 };
	struct shadow_names *n;
	struct shadow_name got;

	(void)state;
	assert_int_equal(shadow_names_new(&n), 0);
	assert_int_equal(shadow_names_put(n, 5, &name), 0);
	assert_int_equal(shadow_names_put(n, 5, &other), 0);	/* it comes again */
	assert_true(shadow_names_get(n, 5, &got));
	assert_string_equal(got.name, "f");
	assert_string_equal(got.file, "a.php");
	assert_int_equal(got.line, 7);
	assert_int_equal(shadow_names_waiting(n), 0);
	shadow_names_free(n);
}

static void frame_first(void **state)
{
	const struct shadow_name name = { "f", "", 0 };
	struct shadow_names *n;
	struct shadow_name got;

	(void)state;
	assert_int_equal(shadow_names_new(&n), 0);
	assert_false(shadow_names_get(n, 5, &got));
	assert_false(shadow_names_get(n, 5, &got));
	assert_false(shadow_names_get(n, 6, &got));
	assert_int_equal(shadow_names_waiting(n), 2);
	assert_int_equal(shadow_names_put(n, 5, &name), 1);
	assert_int_equal(shadow_names_waiting(n), 1);
	assert_int_equal(shadow_names_put(n, 5, &name), 0);
	assert_true(shadow_names_get(n, 5, &got));
	assert_false(shadow_names_get(n, 6, &got));
	shadow_names_free(n);
}

static void interpreters_are_known_by_their_files(void **state)
{
	static const struct {
		const char *file;
		uint8_t lang;
	} cases[] = {
		{ "/a/b.py", LANG_PYTHON }, { "x.rb", LANG_RUBY }, { "i.php", LANG_PHP },
		{ "s.js", LANG_JAVASCRIPT }, { "main.c", LANG_UNKNOWN }, { "", LANG_UNKNOWN },
		{ "py", LANG_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shadow_name name = { "f", cases[i].file, 1 };

		assert_int_equal(shadow_name_lang(&name), cases[i].lang);
	}
}

static void many(void **state)
{
	struct shadow_names *n;
	struct shadow_name got;
	char text[32];

	(void)state;
	assert_int_equal(shadow_names_new(&n), 0);
	for (uint64_t i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "f%d", (int)i);
		assert_int_equal(shadow_names_put(n, i << 40 | i, &(struct shadow_name){ text, "", 0 }),
				 0);
	}
	for (uint64_t i = 0; i < 10000; i += 99) {
		snprintf(text, sizeof(text), "f%d", (int)i);
		assert_true(shadow_names_get(n, i << 40 | i, &got));
		assert_string_equal(got.name, text);
	}
	shadow_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_first),
		cmocka_unit_test(frame_first),
		cmocka_unit_test(many),
		cmocka_unit_test(interpreters_are_known_by_their_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
