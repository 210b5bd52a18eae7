/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A part of the program that is not in the library. fail() is a macro of cmocka. */
#include "src/recording/live_line.c"

#include <cmocka.h>

#include "tests/unit/stderr_text.h"

static const char *shown(struct live_line *l, const struct live_numbers *n)
{
	stderr_begin();
	live_line_update(l, n);
	live_line_clear(l);
	return stderr_end();
}

/* What was not asked for has no figure, and a loss is named only when there is one. */
static void test_the_line_has_what_was_asked_for(void **state)
{
	static const struct {
		struct live_numbers n;
		const char *has, *lacks;
	} rows[] = {
		{ { true, false, 7, 9, 0, 0 }, "  7 samples  0 B  (Ctrl-C ends)", "snapshots" },
		{ { false, true, 7, 9, 0, 1024 }, "  9 snapshots  1.0 KiB", "samples" },
		{ { true, true, 7, 9, 0, 1023 }, "  7 samples  9 snapshots  1023 B", "lost" },
		{ { true, false, 7, 9, 3, 0 }, "  7 samples  3 lost  0 B", "snapshots" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct live_line l;
		const char *text;

		live_line_init(&l, true);
		text = shown(&l, &rows[i].n);
		assert_non_null(strstr(text, rows[i].has));
		assert_null(strstr(text, rows[i].lacks));
	}
}

static void test_it_is_renewed_now_and_then_and_only_on_a_terminal(void **state)
{
	struct live_numbers n = { .samples_wanted = true };
	struct live_line l;

	(void)state;
	live_line_init(&l, false);
	assert_string_equal(shown(&l, &n), "");
	live_line_init(&l, true);
	l.next_ns = UINT64_MAX;
	assert_null(strstr(shown(&l, &n), "samples"));
	l.next_ns = 0;
	assert_non_null(strstr(shown(&l, &n), "samples"));
	assert_true(l.next_ns > 0);
}

/* With the largest figures it is cut, and no byte is written behind it. */
static void test_large_figures(void **state)
{
	struct live_numbers n = { true, true, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct live_line l;
	char size[32];

	(void)state;
	live_line_init(&l, true);
	assert_non_null(strstr(shown(&l, &n), " lost"));
	assert_string_equal(human_bytes(UINT64_MAX, size), "16777216.0 TiB");
	assert_string_equal(human_bytes(1536 * 1024, size), "1.5 MiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_line_has_what_was_asked_for),
		cmocka_unit_test(test_it_is_renewed_now_and_then_and_only_on_a_terminal),
		cmocka_unit_test(test_large_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
