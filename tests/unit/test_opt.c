/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/opt.h"
#include "tests/unit/stderr_text.h"

struct args {
	bool quiet, raw, all;
	const char *output, *svg;
	uint32_t iterations;
	double hz;
	uint64_t duration_ns;
	struct id_list pids;
	bool svg_seen;
};

static int take_svg(const struct opt *o, const char *value, void *dst)
{
	struct args *a = (struct args *)((char *)dst - offsetof(struct args, svg));

	a->svg_seen = true;
	return opt_string(o, value, dst);
}

#define AT(field) offsetof(struct args, field)
static const struct opt own[] = {
	{ 'a', "all", NULL, "every process", opt_flag, AT(all), NULL, "Target", NULL },
	{ 'p', "pid", "PIDS", "only these", opt_id_list, AT(pids), NULL, NULL, NULL },
	{ 'F', "freq", "HZ", "samples per second (default 99)", opt_hz, AT(hz), NULL, "Rate", NULL },
	{ 'd', "duration", "DUR", "stop after", opt_duration, AT(duration_ns), NULL, NULL, NULL },
	{ 'i', "iterations", "N", "stop after N", opt_u32, AT(iterations), NULL, NULL, NULL },
	{ 'q', "quiet", NULL, "no header", opt_flag, AT(quiet), NULL, "Output", NULL },
	{ 'r', "raw", NULL, "as it is", opt_flag, AT(raw), NULL, NULL, NULL },
	{ 'o', "output", "FILE", "write here", opt_string, AT(output), NULL, NULL, NULL },
};
static const struct opt pictures[] = {
	{ 's', "svg", "[=FILE]", "a picture", take_svg, AT(svg), ".svg .svgz", "Pictures", NULL },
};
static const struct opt_list lists[] = {
	{ own, sizeof(own) / sizeof(own[0]), NULL },
	{ pictures, 1, NULL },
};

static char *argv[16];
static int argc, after;
static char said[8192];

/* Parses a command line given as one string; words are separated by single spaces. */
/* after: NULL for a command that runs no other one. */
static int parse_line(struct args *a, const char *line, int *command)
{
	static char copy[512];
	int n;

	free(a->pids.v);
	memset(a, 0, sizeof(*a));
	snprintf(copy, sizeof(copy), "sample %s", line);
	argc = 0;
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	stderr_begin();
	n = opt_parse(lists, 2, argc, argv, a, command);
	snprintf(said, sizeof(said), "%s", stderr_end());
	return n;
}

static int parse(struct args *a, const char *line)
{
	return parse_line(a, line, &after);
}

static int parse_words(struct args *a, const char *line)
{
	return parse_line(a, line, NULL);
}

static void test_spellings(void **state)
{
	static const char *const lines[] = {
		"-F 9.5", "-F9.5", "-F=9.5", "--freq 9.5", "--freq=9.5", "--fre 9.5", "--f=9.5",
	};
	struct args a = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(&a, lines[i]), 0);
		assert_true(a.hz == 9.5);
		assert_string_equal(said, "");
	}
}

static void test_bundle(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse(&a, "-qra"), 0);
	assert_true(a.quiet && a.raw && a.all);
	assert_int_equal(parse(&a, "-qi5 -a"), 0);
	assert_true(a.quiet && a.all && !a.raw);
	assert_int_equal(a.iterations, 5);
	assert_int_equal(parse(&a, "-qo x.pbz"), 0);
	assert_string_equal(a.output, "x.pbz");
}

static void test_words_keep_their_order(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse_words(&a, "one -q two -F 5 - three"), 4);
	assert_string_equal(argv[1], "one");
	assert_string_equal(argv[2], "two");
	assert_string_equal(argv[3], "-");
	assert_string_equal(argv[4], "three");
}

static void test_command_behind_dashes(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse(&a, "-q 12 -- ls -l --freq"), 1);
	assert_string_equal(argv[1], "12");
	assert_int_equal(after, 4);
	assert_string_equal(argv[after], "ls");
	assert_string_equal(argv[after + 2], "--freq");
	assert_int_equal(parse(&a, "-q --"), 0);
	assert_int_equal(after, argc);
}

/* The first word that is no number begins it, as with perf and time. */
static void test_command_without_dashes(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse(&a, "-q -F 5 ls -l -- --freq"), 0);
	assert_true(a.quiet && a.hz == 5);
	assert_int_equal(after, 4);
	assert_string_equal(argv[after], "ls");
	assert_string_equal(argv[after + 1], "-l");
	assert_string_equal(argv[after + 2], "--");
	assert_int_equal(parse(&a, "12 -q 34 ./5 6"), 2);
	assert_string_equal(argv[2], "34");
	assert_string_equal(argv[after], "./5");
}

/* argv[0] is "sample", so these are what other profilers call options of recordings. */
static void test_options_of_other_profilers(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse(&a, "-gq"), 0);
	assert_true(a.quiet);
	assert_int_equal(parse(&a, "-qg --rate 5 ls"), 0);
	assert_true(a.quiet && a.hz == 5);
	assert_string_equal(argv[after], "ls");
	assert_int_equal(parse(&a, "--frequency=7"), 0);
	assert_true(a.hz == 7);
	assert_int_equal(parse(&a, "--gil"), -EINVAL);
	assert_non_null(strstr(said, "--waits"));
	assert_int_equal(parse(&a, "--all-user"), -EINVAL);
	assert_non_null(strstr(said, "--user-only is not an option of probee sample"));
	assert_int_equal(parse(&a, "--rate"), -EINVAL);
	assert_non_null(strstr(said, "unknown option --rate"));
	assert_int_equal(parse(&a, "--gil=x"), -EINVAL);
	assert_non_null(strstr(said, "--waits"));
	assert_int_equal(parse(&a, "-q -r8"), 0);	/* a value behind its letter */
	assert_true(a.hz == 8);
	assert_int_equal(parse(&a, "-qr9"), 0);
	assert_true(a.hz == 9);
}

/* As Go's programs have it. */
static void test_one_dash_before_a_word(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse(&a, "-freq 5 -quiet ls"), 0);
	assert_true(a.hz == 5 && a.quiet);
	assert_string_equal(argv[after], "ls");
	assert_int_equal(parse(&a, "-freq=6"), 0);
	assert_true(a.hz == 6);
	assert_int_equal(parse(&a, "-fre 6"), -EINVAL);	/* the whole word */
	assert_int_equal(parse(&a, "-freq"), -EINVAL);
	assert_non_null(strstr(said, "-freq needs a value"));
}

static void test_dashes_without_command(void **state)
{
	char *v[] = { (char[]){ "report" }, (char[]){ "--" }, (char[]){ "-q" }, NULL };
	struct args a = { 0 };

	(void)state;
	assert_int_equal(opt_parse(lists, 2, 3, v, &a, NULL), 1);
	assert_string_equal(v[1], "-q");
	assert_false(a.quiet);
}

static void test_optional_value(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse_words(&a, "trace.pbz --svg"), 1);
	assert_true(a.svg_seen && !a.svg);
	assert_int_equal(parse_words(&a, "--svg trace.pbz"), 1);
	assert_true(a.svg_seen && !a.svg);
	assert_int_equal(parse_words(&a, "--svg out.svg trace.pbz"), 1);
	assert_string_equal(a.svg, "out.svg");
	assert_int_equal(parse_words(&a, "-s out.svgz trace.pbz"), 1);
	assert_string_equal(a.svg, "out.svgz");
	assert_int_equal(parse_words(&a, "--svg=anything trace.pbz"), 1);
	assert_string_equal(a.svg, "anything");
	assert_int_equal(parse_words(&a, "-s=anything trace.pbz"), 1);
	assert_string_equal(a.svg, "anything");
	assert_int_equal(parse_words(&a, "-sq x.svg"), 1);	/* only the last of a bundle looks at the next word */
	assert_true(a.svg_seen && a.quiet && !a.svg);
	assert_int_equal(parse_words(&a, "--svg .svg"), 1);	/* a bare suffix names no file */
}

static void test_messages(void **state)
{
	static const struct { const char *line, *said; } cases[] = {
		{ "--frqe 9", "unknown option --frqe. Try: --freq" },
		{ "--zzzzzz", "unknown option --zzzzzz. Try: probee sample --help" },
		{ "-x", "unknown option -x. Try: probee sample --help" },
		{ "--quiet=1x", "--quiet takes no value, but '1x' was given" },
		{ "--freq", "--freq needs a value. Try: --freq HZ" },
		{ "-F", "-F needs a value. Try: -F HZ" },
		{ "--freq fast", "--freq: 'fast' is not a frequency from 0.001 to 100000" },
		{ "--=3", "unknown option --. Try: probee sample --help" },
	};
	struct args a = { 0 };
	char want[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(&a, cases[i].line), -EINVAL);
		snprintf(want, sizeof(want), "probee: %s\n", cases[i].said);
		assert_string_equal(said, want);
	}
}

static void test_ambiguous_prefix(void **state)
{
	static const struct opt rows[] = {
		{ 0, "group-by-cpu", NULL, "", opt_flag, 0, NULL, NULL, NULL },
		{ 0, "group-by-process", NULL, "", opt_flag, 1, NULL, NULL, NULL },
		{ 0, "group", NULL, "", opt_flag, 2, NULL, NULL, NULL },
	};
	const struct opt_list list = { rows, 3, NULL };
	char *v[] = { (char[]){ "info" }, (char[]){ "--group-by" }, NULL };
	bool set[3] = { false };

	(void)state;
	stderr_begin();
	assert_int_equal(opt_parse(&list, 1, 2, v, set, NULL), -EINVAL);
	assert_string_equal(stderr_end(), "probee: option --group-by is ambiguous. "
			    "Try: one of --group-by-cpu, --group-by-process\n");
	v[1] = (char[]){ "--group" };		/* in full: no prefix of the others */
	assert_int_equal(opt_parse(&list, 1, 2, v, set, NULL), 0);
	assert_true(set[2] && !set[0] && !set[1]);
	v[1] = (char[]){ "--group-by-p" };
	assert_int_equal(opt_parse(&list, 1, 2, v, set, NULL), 0);
	assert_true(set[1]);
}

/* A kind of capture has a table and a struct of its own. */
static void test_a_table_may_fill_a_struct_of_its_own(void **state)
{
	static const struct opt common[] = { { 0, "quiet", NULL, "", opt_flag, 1, NULL, NULL, NULL } };
	static const struct opt special[] = { { 0, "wakers", NULL, "", opt_flag, 1, NULL, NULL, NULL } };
	bool set[2] = { false }, filled[2] = { false };
	const struct opt_list both[] = { { common, 1, NULL }, { special, 1, filled } };
	char *v[] = { (char[]){ "sample" }, (char[]){ "--wakers" }, NULL };

	(void)state;
	assert_int_equal(opt_parse(both, 2, 2, v, set, NULL), 0);
	assert_true(filled[1] && !filled[0] && !set[1]);
	v[1] = (char[]){ "--quiet" };
	filled[1] = false;
	assert_int_equal(opt_parse(both, 2, 2, v, set, NULL), 0);
	assert_true(set[1] && !set[0] && !filled[1]);
}

static void test_help(void **state)
{
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse(&a, "--help"), OPT_HELP);
	assert_int_equal(parse(&a, "-qh"), OPT_HELP_BRIEF);
	assert_int_equal(parse(&a, "--help=all"), OPT_HELP_ALL);
	assert_int_equal(parse(&a, "--help=2"), OPT_HELP_TOPIC - 2);
	assert_true(opt_is_help(OPT_HELP_TOPIC - 2) && opt_is_help(OPT_HELP_BRIEF) && !opt_is_help(-EINVAL));
	assert_int_equal(parse(&a, "-- --help"), 0);
}

static void test_durations(void **state)
{
	static const struct { const char *text; uint64_t ns; } good[] = {
		{ "10", 10000000000ull }, { "1.5s", 1500000000 }, { "200ms", 200000000 },
		{ "5m", 300000000000ull }, { "1h", 3600000000000ull }, { ".5", 500000000 },
	};
	static const char *const bad[] = {
		"0", "-1", "", "1d", "s", ".", "1e3", "inf", "nan", "1 s", "99999999h", "0x10",
	};
	const struct opt o = { .name = "duration" };
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(opt_duration(&o, good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		stderr_begin();
		assert_int_equal(opt_duration(&o, bad[i], &ns), -EINVAL);
		assert_non_null(strstr(stderr_end(), "is not a duration"));
	}
}

static void test_numbers(void **state)
{
	static const char *const bad_u32[] = { "", "-1", "4294967296", "1x", " 1", "18446744073709551616" };
	static const char *const bad_hz[] = { "0", "100001", "-5", "1e9", "0.0001", "..5", "5Hz" };
	const struct opt o = { .name = "n" };
	uint32_t n;
	double hz;

	(void)state;
	assert_int_equal(opt_u32(&o, "4294967295", &n), 0);
	assert_int_equal(n, UINT32_MAX);
	assert_int_equal(opt_hz(&o, "0.5", &hz), 0);
	assert_true(hz == 0.5);
	stderr_begin();
	for (size_t i = 0; i < sizeof(bad_u32) / sizeof(bad_u32[0]); i++)
		assert_int_equal(opt_u32(&o, bad_u32[i], &n), -EINVAL);
	for (size_t i = 0; i < sizeof(bad_hz) / sizeof(bad_hz[0]); i++)
		assert_int_equal(opt_hz(&o, bad_hz[i], &hz), -EINVAL);
	stderr_end();
}

static void test_flag_words(void **state)
{
	const struct opt o = { .name = "dwarf" };
	bool b = false;

	(void)state;
	assert_int_equal(opt_flag(&o, "true", &b), 0);
	assert_true(b);
	assert_int_equal(opt_flag(&o, "off", &b), 0);
	assert_false(b);
	stderr_begin();
	assert_int_equal(opt_flag(&o, "maybe", &b), -EINVAL);
	stderr_end();
}

static void test_id_lists(void **state)
{
	static const char *const bad[] = {
		"", ",", "1,", "1,,2", "5-3", "1-", "-3", "a", "1;2", "4294967296", "0-4294967295",
	};
	struct args a = { 0 };

	(void)state;
	assert_int_equal(parse(&a, "-p 1,2,10-12 --pid 4294967295"), 0);
	assert_int_equal(a.pids.nr, 6);
	assert_true(id_list_has(&a.pids, 11) && id_list_has(&a.pids, UINT32_MAX));
	assert_false(id_list_has(&a.pids, 3));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct opt o = { .name = "pid" };

		stderr_begin();
		assert_int_equal(opt_id_list(&o, bad[i], &a.pids), -EINVAL);
		assert_non_null(strstr(stderr_end(), "--pid: '"));
	}
	free(a.pids.v);
}

static const struct opt_selection everything = { .options = NULL };

static void test_help_text(void **state)
{
	static const struct opt rows[] = {
		{ 'F', "freq", "HZ", "aaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
		  "cccccccccccccccccccccccccc dddddddddddd", opt_hz, 0, NULL, "Rate", NULL },
		{ 0, "an-option-that-is-long", "WITH-A-LONG-VALUE", "x", opt_hz, 0, NULL, NULL, NULL },
		{ 0, "svg", "[=FILE]", "y", opt_hz, 0, NULL, "Out", NULL },
	};
	const struct opt_list list = { rows, 3, NULL };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	opt_print_help(&list, 1, &everything, 100, f);
	fclose(f);
	assert_string_equal(text,
		"\nRate:\n"
		"  -F, --freq HZ     aaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
		"                    cccccccccccccccccccccccccc dddddddddddd\n"
		"      --an-option-that-is-long WITH-A-LONG-VALUE\n"
		"                    x\n"
		"\nOut:\n"
		"      --svg[=FILE]  y\n"
		"\n"
		"  -h, --help        show help: -h in short, --help=all in full\n");
	free(text);
}

/* Rows of two lists under one heading; none is wider than it may be. */
static void test_help_of_several_lists(void **state)
{
	static const struct opt common[] = {
		{ 'p', "pid", "PIDS", "these aaaaaaaa bbbbbbbb", opt_string, 0, NULL, "Target", NULL },
		{ 'q', "quiet", NULL, "say less", opt_flag, 0, NULL, "Output", NULL },
	};
	static const struct opt special[] = {
		{ 'C', "cpu", "CPUS", "only these", opt_string, 0, NULL, "Target", NULL },
	};
	const struct opt_list both[] = { { common, 2, NULL }, { special, 1, NULL } };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	opt_print_help(both, 2, &everything, 40, f);
	fclose(f);
	assert_string_equal(text,
		"\nTarget:\n"
		"  -p, --pid PIDS  these aaaaaaaa\n"
		"                  bbbbbbbb\n"
		"  -C, --cpu CPUS  only these\n"
		"\nOutput:\n"
		"  -q, --quiet     say less\n"
		"\n"
		"  -h, --help      show help: -h in\n"
		"                  short, --help=all in\n"
		"                  full\n");
	free(text);
}

/* What a screen of -h, a topic and --help without topics have of the rows. */
static void test_selections_of_help(void **state)
{
	static const struct opt rows[] = {
		{ 'F', "freq", "HZ", "samples a second (default 99); more of it", opt_hz, 0, NULL, "Rate", NULL },
		{ 0, "event", "E", "what makes a sample (a; b)", opt_hz, 0, NULL, NULL, NULL },
		{ 0, "svg", "[=FILE]", "y", opt_hz, 0, NULL, "Out", NULL },
	};
	static const struct {
		struct opt_selection s;
		const char *text;
	} cases[] = {
		{ { .options = "event nothing freq" },
		  "\nOptions:\n"
		  "      --event E     what makes a sample\n"
		  "  -F, --freq HZ     samples a second (default 99)\n" },
		{ { .heading = "Out" }, "Out:\n      --svg[=FILE]  y\n" },
		{ { .left_out = "Push|Rate" },
		  "\nOut:\n      --svg[=FILE]  y\n\n"
		  "  -h, --help        show help: -h in short, --help=all in full\n" },
	};
	const struct opt_list list = { rows, 3, NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		opt_print_help(&list, 1, &cases[i].s, 100, f);
		fclose(f);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void test_sizes(void **state)
{
	static const struct { const char *text; uint64_t bytes; } good[] = {
		{ "1", 1 }, { "500K", 500000 }, { "1.5M", 1500000 }, { "2G", 2000000000 },
	};
	static const char *const bad[] = { "", "0", "M", "1k", "-1", "1MB", "1e3", "9999999G" };
	const struct opt o = { .name = "size" };
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(opt_size(&o, good[i].text, &v), 0);
		assert_int_equal(v, good[i].bytes);
	}
	stderr_begin();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(opt_size(&o, bad[i], &v), -EINVAL);
	assert_non_null(strstr(stderr_end(), "500K"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_bundle),
		cmocka_unit_test(test_words_keep_their_order),
		cmocka_unit_test(test_command_behind_dashes),
		cmocka_unit_test(test_command_without_dashes),
		cmocka_unit_test(test_options_of_other_profilers),
		cmocka_unit_test(test_one_dash_before_a_word),
		cmocka_unit_test(test_dashes_without_command),
		cmocka_unit_test(test_optional_value),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_ambiguous_prefix),
		cmocka_unit_test(test_a_table_may_fill_a_struct_of_its_own),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_flag_words),
		cmocka_unit_test(test_id_lists),
		cmocka_unit_test(test_help_text),
		cmocka_unit_test(test_help_of_several_lists),
		cmocka_unit_test(test_selections_of_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
