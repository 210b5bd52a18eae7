/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Parts of the program that are not in the library. fail() is a macro of cmocka. */
#include "src/recording/ending_text.c"
#include "src/recording/live_line.c"

#include <cmocka.h>

static const struct ending usual = {
	.samples = 2310, .threads = 48, .user_stacks = 1000, .whole = 998, .ns = 10000000000,
	.bytes = 219136, .has_samples = true, .path = "trace.pbz",
};

static void is(const struct ending *e, const char *wanted)
{
	char text[ENDING_TEXT_MAX];

	ending_text(e, text);
	assert_string_equal(text, wanted);
}

static void test_usual(void **state)
{
	(void)state;
	is(&usual, "2,310 samples of 48 threads in 10.0 s, 99.8 % of user stacks whole, 214.0 KiB "
		   "in trace.pbz; next: probee report");
}

static void test_what_was_recorded(void **state)
{
	struct ending e = usual;

	(void)state;
	e.scans = 1;
	e.threads = 1;
	is(&e, "2,310 samples and 1 snapshot of 1 thread in 10.0 s, 99.8 % of user stacks whole, "
	       "214.0 KiB in trace.pbz; next: probee report");
	e.has_samples = false;
	is(&e, "1 snapshot of 1 thread in 10.0 s, 99.8 % of user stacks whole, 214.0 KiB in "
	       "trace.pbz; next: probee report");
	e = usual;
	e.user_stacks = e.whole = 0;
	is(&e, "2,310 samples of 48 threads in 10.0 s, 214.0 KiB in trace.pbz; next: probee "
	       "report");
}

/* What is nearly all is not all. */
static void test_whole(void **state)
{
	struct ending e = usual;
	char text[ENDING_TEXT_MAX];

	(void)state;
	e.user_stacks = 100000;
	e.whole = 99999;
	ending_text(&e, text);
	assert_non_null(strstr(text, " 99.9 % of user stacks whole"));
	e.whole = 100000;
	ending_text(&e, text);
	assert_non_null(strstr(text, " 100.0 % of user stacks whole"));
}

static void ends(const char *path, const char *place, const char *wanted)
{
	struct ending e = usual;
	char text[ENDING_TEXT_MAX];

	e.path = path;
	e.place = place;
	ending_text(&e, text);
	assert_true(strlen(text) > strlen(wanted));
	assert_string_equal(text + strlen(text) - strlen(wanted), wanted);
}

/* It can be copied to a shell. */
static void test_next(void **state)
{
	(void)state;
	ends("dir/x.pbz", NULL, " in dir/x.pbz; next: probee report dir/x.pbz");
	ends("my trace.pbz", NULL, " in 'my trace.pbz'; next: probee report 'my trace.pbz'");
	ends("it's.pbz", NULL, " in 'it'\\''s.pbz'; next: probee report 'it'\\''s.pbz'");
	ends("-x", NULL, " in ./'-x'; next: probee report ./'-x'");
	ends(NULL, "standard output", " 214.0 KiB in standard output");
}

/* Who has asked for reports has them. */
static void test_reports(void **state)
{
	struct ending e = usual;

	(void)state;
	e.has_reports = true;
	is(&e, "2,310 samples of 48 threads in 10.0 s, 99.8 % of user stacks whole, 214.0 KiB in "
	       "trace.pbz");
}

static void test_lost(void **state)
{
	char text[LOST_TEXT_MAX];

	(void)state;
	assert_false(ending_lost_text(0, "", text));
	assert_true(ending_lost_text(1, "", text));
	assert_string_equal(text, "1 sample lost");
	assert_true(ending_lost_text(1200, "3 kernel stacks are missing", text));
	assert_string_equal(text, "1,200 samples lost; 3 kernel stacks are missing");
	assert_true(ending_lost_text(0, "3 kernel stacks are missing", text));
	assert_string_equal(text, "3 kernel stacks are missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),	cmocka_unit_test(test_what_was_recorded),
		cmocka_unit_test(test_whole),	cmocka_unit_test(test_next),
		cmocka_unit_test(test_reports),	cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
