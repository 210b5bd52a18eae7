/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_perf_script;

static const struct render_opts plain;

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_perf_script, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.perf");
	assert_true(renderer_perf_script.made(got));
	free(got);
}

/* Of the fixture's rows one has neither stack: it has a frame that says why, and one is on no CPU. */
static void no_sample_is_without_a_frame(void **state)
{
	char *got = fixture_render_wall(&renderer_perf_script, &plain, NULL);

	(void)state;
	assert_non_null(strstr(got, "\nworker   100/101   [001] 1790000000.040000000:          1 snapshot: \n"
				    "\t               0 [on_cpu] ([unknown])\n\n"));
	assert_non_null(strstr(got, "\nkworker/0:1     7/7     1790000000.041000000: "));
	free(got);
}

static void hostile_names_are_harmless(void **state)
{
	char *got = fixture_render(&renderer_perf_script, &plain, hostile_names), *line;

	(void)state;
	for (line = got; (line = strchr(line, '\t')); line++)
		*line = ' ';
	check_is_harmless(got);
	assert_non_null(strstr(got, "\n</script>\\x1b[31m\\x00\\x0a:|"));
	free(got);
}

/* Readers find the number of the process, the file and the event by their spaces. */
static void names_do_not_break_a_line_into_other_words(void **state)
{
	static const struct fixture_name names[FIX_STRINGS] = {
		[FIX_S_SERVER] = { "#a 12/3 /4 b", 12 },
		[FIX_S_WORKER] = { "w", 1 },
		[FIX_S_CPU_CLOCK] = { "cpu clock", 9 },
		[FIX_S_HOT] = { "(anonymous namespace)::f", 24 },
		[FIX_S_SERVER_PATH] = { "/a b/c (deleted)", 16 },
	};
	char *got = fixture_render(&renderer_perf_script, &plain, names);

	(void)state;
	assert_non_null(strstr(got, "\n:#a\\x2012/3\\x20/4 b   100/100   [000] "));
	assert_non_null(strstr(got, "\nw    100/101   [001] "));
	assert_non_null(strstr(got, " cpu\\x20clock: \n"));
	assert_non_null(strstr(got, "1410 ::(anonymous namespace)::f+0x10 (/a\\x20b/c\\x20(deleted))\n"));
	free(got);
}

static void lines_and_inlines_are_as_asked(void **state)
{
	const struct render_opts opts = { .style = { .lines = true, .inline_depth = 1 } };
	char *got = fixture_render(&renderer_perf_script, &opts, NULL);

	(void)state;
	assert_non_null(strstr(got, " handle_request(int):33+0x40 ("));
	assert_null(strstr(got, "parse_header"));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_file),
		cmocka_unit_test(no_sample_is_without_a_frame),
		cmocka_unit_test(hostile_names_are_harmless),
		cmocka_unit_test(names_do_not_break_a_line_into_other_words),
		cmocka_unit_test(lines_and_inlines_are_as_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
