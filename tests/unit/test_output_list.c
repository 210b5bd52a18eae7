/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* fail() is a macro of cmocka. */
#include "formats/render/output_list.c"

#include <cmocka.h>

#include "tests/unit/fixture_report.h"
#include "tests/unit/stderr_text.h"

struct args {
	int before;
	struct output_list outputs;
};

struct place {				/* a directory with a trace in it */
	char dir[64], trace[96];
	struct report *rep;
	struct args args;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/probee-outputs-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->trace, sizeof(p->trace), "%s/XXXXXX", p->dir);
	fixture_write(p->trace, NULL);
	assert_int_equal(report_open(p->trace, NULL, &p->rep), 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	char command[128];

	report_close(p->rep);
	output_list_release(&p->args.outputs);
	snprintf(command, sizeof(command), "rm -rf '%s'", p->dir);
	assert_int_equal(system(command), 0);
	free(p);
	return 0;
}

static int parse(struct place *p, char **words)
{
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list list = { rows, output_list_opts(rows, offsetof(struct args, outputs)), NULL };
	int argc = 0;

	while (words[argc])
		argc++;
	return opt_parse(&list, 1, argc, words, &p->args, NULL);
}

#define PARSE(p, ...) parse(p, (char *[]){ (char[]){ "report" }, __VA_ARGS__, NULL })
#define WORD(s) (char[]){ s }

static int run_list(struct place *p, const char **said)
{
	static const struct render_opts opts;
	int err;

	stderr_begin();
	err = output_list_run(&p->args.outputs, p->rep, &opts);
	output_list_summary(p->rep);
	*said = stderr_end();
	return err;
}

/* Runs with standard output going to fd. */
static int run_into(struct place *p, int fd, const char **said)
{
	int saved = dup(STDOUT_FILENO), err;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	err = run_list(p, said);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return err;
}

static void path_in(const struct place *p, const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", p->dir, name);
}

static bool begins_with(const char *path, const char *text)
{
	char head[64] = "";
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	if (!fread(head, 1, sizeof(head) - 1, f))
		head[0] = 0;
	fclose(f);
	return !strncmp(head, text, strlen(text));
}

static void every_renderer_is_an_option(void **state)
{
	struct place *p = *state;

	assert_int_equal(PARSE(p, WORD("--svg=a.svg"), WORD("x.pbz"), WORD("--csv"), WORD("--json"), WORD("b.json"),
			       WORD("--text"), WORD("--collapse=-")), 1);
	assert_int_equal(p->args.outputs.nr, 5);
	assert_string_equal(p->args.outputs.v[0].file, "a.svg");
	assert_null(p->args.outputs.v[1].file);
	assert_string_equal(p->args.outputs.v[2].file, "b.json");
	assert_string_equal(p->args.outputs.v[3].renderer->name, "text");
	assert_string_equal(p->args.outputs.v[4].file, "-");
}

static void an_empty_name_is_a_mistake(void **state)
{
	struct place *p = *state;

	stderr_begin();
	assert_int_equal(PARSE(p, WORD("--svg=")), -EINVAL);
	assert_non_null(strstr(stderr_end(), "--svg= "));
}

static void writes_several_and_says_what_was_lost(void **state)
{
	struct place *p = *state;
	char svg[128], csv[128];
	const char *said;

	path_in(p, "a.svg", svg);
	path_in(p, "a.csv", csv);
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("svg"), svg), 0);
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("csv"), csv), 0);
	assert_int_equal(run_list(p, &said), 0);
	assert_true(begins_with(svg, "<?xml"));
	assert_true(begins_with(csv, "timestamp|"));
	assert_non_null(strstr(said, "ring-full 7"));
	assert_null(strstr(strstr(said, "ring-full") + 1, "ring-full"));	/* once, not once per report */
	assert_null(strstr(said, "snapshot"));	/* nothing is missing of them */
}

static void never_overwrites_the_trace(void **state)
{
	struct place *p = *state;
	struct stat before, after;
	char link[128];
	const char *said;

	path_in(p, "link.svg", link);
	assert_int_equal(symlink(p->trace, link), 0);
	assert_int_equal(stat(p->trace, &before), 0);
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("svg"), p->trace), 0);
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("svg"), link), 0);
	assert_int_equal(run_list(p, &said), -EINVAL);
	assert_non_null(strstr(said, "is the trace itself"));
	assert_int_equal(stat(p->trace, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
}

/* Whoever tries several kinds of reports may use one name for all of them. */
static void replaces_reports_and_nothing_else(void **state)
{
	static const char *const other[] = {
		"int main(void)\n{\n\tfor (int i = 0; i < 10; i++)\n", "# notes\n", "\x7f" "ELF\2\1\1",
		"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\">\n", "{\"name\":\"x\"}",
		"a;b 12\nnot a stack\n", "2026-09-21 14:13 meeting\n",
	};
	struct place *p = *state;
	const char *said;
	char path[128];

	path_in(p, "out", path);
	for (size_t i = 0; renderers[i]; i++)
		for (size_t k = 0; k < 2; k++) {
			output_list_release(&p->args.outputs);
			assert_int_equal(output_list_add(&p->args.outputs, renderers[i], path), 0);
			assert_int_equal(run_list(p, &said), 0);
		}
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		FILE *f = fopen(path, "w");

		fputs(other[i], f);
		fclose(f);
		assert_int_equal(run_list(p, &said), -EEXIST);
		assert_non_null(strstr(said, "no earlier report"));
		assert_true(begins_with(path, other[i]));
	}
}

static void csv_without_its_header_is_known(void **state)
{
	const struct renderer *csv = renderer_find("csv");

	(void)state;
	assert_true(csv->made("2026-09-21 14:13:20.010000|100|100|server|RUNNING|main|\n"));
	assert_false(csv->made("2026-09-21 14:13:20.01|100\n"));
	assert_false(csv->made("2026-09-21 14:13:20.010000 100\n"));
}

static void one_that_fails_does_not_stop_the_others(void **state)
{
	struct place *p = *state;
	char csv[128];
	const char *said;

	path_in(p, "a.csv", csv);
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("svg"), "/nonexistent/a.svg"), 0);
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("csv"), csv), 0);
	assert_int_equal(run_list(p, &said), -ENOENT);
	assert_non_null(strstr(said, "/nonexistent/a.svg: No such file"));
	assert_true(begins_with(csv, "timestamp|"));
}

static void a_full_disk_is_said_once(void **state)
{
	struct place *p = *state;
	const char *said, *first;

	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("json"), "/dev/full"), 0);
	assert_int_equal(run_list(p, &said), -ENOSPC);
	first = strstr(said, "No space left");
	assert_non_null(first);
	assert_null(strstr(first + 1, "No space left"));
}

static void a_reader_that_has_gone_is_no_failure(void **state)
{
	struct place *p = *state;
	const char *said;
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("csv"), NULL), 0);
	assert_int_equal(run_into(p, fds[1], &said), 0);
	assert_null(strstr(said, "ipe"));
	close(fds[1]);
}

static void pictures_do_not_flood_a_terminal(void **state)
{
	struct place *p = *state;
	char want[160];
	const char *said;
	int master, tty;

	if (openpty(&master, &tty, NULL, NULL, NULL))
		skip();
	assert_int_equal(output_list_add(&p->args.outputs, renderer_find("svg"), NULL), 0);
	assert_int_equal(run_into(p, tty, &said), 0);
	snprintf(want, sizeof(want), "%s.svg", p->trace);
	assert_true(begins_with(want, "<?xml"));
	assert_non_null(strstr(said, want));
	close(master);
	close(tty);
}

static void a_picture_is_named_after_its_trace(void **state)
{
	static const struct {
		const char *trace, *want;
	} names[] = {
		{ "trace.pbz", "trace.svg" }, { "/a/b.pbz", "/a/b.svg" }, { "x", "x.svg" }, { "x.svg", "x.svg.svg" },
		{ "-", "trace.svg" }, { "a/.pbz", "a/.pbz.svg" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *got = picture_name(names[i].trace, renderer_find("svg"));

		assert_string_equal(got, names[i].want);
		free(got);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_renderer_is_an_option),
		TEST(an_empty_name_is_a_mistake),
		TEST(writes_several_and_says_what_was_lost),
		TEST(never_overwrites_the_trace),
		TEST(replaces_reports_and_nothing_else),
		TEST(csv_without_its_header_is_known),
		TEST(one_that_fails_does_not_stop_the_others),
		TEST(a_full_disk_is_said_once),
		TEST(a_reader_that_has_gone_is_no_failure),
		TEST(pictures_do_not_flood_a_terminal),
		TEST(a_picture_is_named_after_its_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
