/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_csv;

static const struct render_opts plain, no_header = { .quiet = true }, reversed = { .reverse_stack = true };

/* The nr-th line, 0 the first; without its newline. The text is cut up. */
static char *line(char *text, unsigned nr)
{
	char *end;

	while (nr--) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	end = strchr(text, '\n');
	assert_non_null(end);
	*end = 0;
	return text;
}

static void check_line_of(const struct query *query, const struct render_opts *opts, unsigned nr, const char *want)
{
	char *got = fixture_render_query(&renderer_csv, opts, NULL, query);

	assert_string_equal(line(got, nr), want);
	free(got);
}

static void check_line(const struct render_opts *opts, unsigned nr, const char *want)
{
	check_line_of(NULL, opts, nr, want);
}

/* They stand behind the others, and only when they are asked for. */
static void waits_are_columns_at_the_end(void **state)
{
	static const struct render_opts opts = { .wait_columns = true };
	char *text = fixture_render_wall(&renderer_csv, &opts, NULL);

	(void)state;
	assert_non_null(strstr(text, "|state|ustack|kstack|waited_s|syscall|waits_on|owner\n"));
	assert_non_null(strstr(text, "|0.033000|futex|futex 0x7700|101\n"));
	assert_non_null(strstr(text, "|IDLE|[kthread]|"));
	assert_non_null(strstr(text, "||||\n"));
	free(text);
}

static void has_the_columns_of_xstack(void **state)
{
	(void)state;
	check_line(&plain, 0, "timestamp|tid|tgid|comm|state|ustack|kstack");
	check_line(&plain, 1, "2026-09-21 14:13:20.010000|100|100|server|RUNNING|"
		   "hot_loop+0x10;parse_header_[i];handle_request(int)+0x40;main+0x34;_start+0x10|");
}

static void can_do_without_a_header(void **state)
{
	(void)state;
	check_line_of(&fixture_wall, &no_header, 2, "2026-09-21 14:13:20.041000|7|7|kworker/0:1|IDLE|[kthread]|schedule+0x2f;kthread+0xd3");
}

static void can_be_reversed(void **state)
{
	(void)state;
	check_line(&reversed, 3, "2026-09-21 14:13:20.021000|101|100|worker|RUNNING|"
		   "_start+0x10;main+0x34;handle_request(int)+0x40;parse_header_[i]|"
		   "entry_SYSCALL_64+0x80;do_syscall_64+0x3c;schedule+0x2f");
}

static void says_why_frames_are_missing(void **state)
{
	(void)state;
	check_line(&plain, 4, "2026-09-21 14:13:20.030000|100|100|server|RUNNING|"
		   "[server+0x7700];parse_header_[i];handle_request(int)+0x40;main+0x34;_start+0x10|");
	check_line(&plain, 5, "2026-09-21 14:13:20.031000|101|100|worker|RUNNING|[unknown]+0x7f0000001234;[truncated: no-fde]|");
	check_line(&reversed, 5,
		   "2026-09-21 14:13:20.031000|101|100|worker|RUNNING|[truncated: no-fde];[unknown]+0x7f0000001234|");
	check_line_of(&fixture_wall, &plain, 2, "2026-09-21 14:13:20.040000|101|100|worker|RUNNING|[on_cpu]|");
}

static void hostile_names_stay_cells(void **state)
{
	static const struct render_opts *const all[] = { &plain, &reversed };
	char *got, *row;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		unsigned rows = 0;

		got = fixture_render(&renderer_csv, all[i], hostile_names);
		check_is_harmless(got);
		assert_non_null(strstr(got, "|'=cmd!' /C calc'!A0|"));
		for (row = strtok(got, "\n"); row; row = strtok(NULL, "\n"), rows++) {
			unsigned bars = 0;

			for (const char *s = row; *s; s++) {
				bars += *s == '|';
				if (*s == '|' && s[1] && strchr("=+-@", s[1]))
					fail_msg("a formula: %s", row);
			}
			assert_int_equal(bars, 6);
		}
		assert_int_equal(rows, FIX_CPU_SAMPLES + 1);
		free(got);
	}
}

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_csv, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.csv");
	free(got);
	got = fixture_render_wall(&renderer_csv, &plain, NULL);
	check_golden(got, "fixture.wall.csv");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_columns_of_xstack),
		cmocka_unit_test(waits_are_columns_at_the_end),
		cmocka_unit_test(can_do_without_a_header),
		cmocka_unit_test(can_be_reversed),
		cmocka_unit_test(says_why_frames_are_missing),
		cmocka_unit_test(hostile_names_stay_cells),
		cmocka_unit_test(matches_the_golden_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
