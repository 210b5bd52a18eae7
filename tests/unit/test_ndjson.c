/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/render/csv/csv_columns.h"
#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_csv, renderer_ndjson;

static struct render_opts with_columns(const char *const *names)
{
	struct render_opts opts = { .is_rfc4180 = true };

	for (; *names; names++)
		csv_columns_add(&opts.columns_shown, *names);
	return opts;
}

/* The nr-th line, 0 the first; without its newline. The text is cut up. */
static char *line(char *text, unsigned nr)
{
	char *s = strtok(text, "\r\n");

	while (s && nr--)
		s = strtok(NULL, "\r\n");
	assert_non_null(s);
	return s;
}

static void check_line(const struct renderer *r, const struct query *q, const char *const *names, unsigned nr,
		       const char *want)
{
	struct render_opts opts = with_columns(names);
	char *got = fixture_render_query(r, &opts, NULL, q);

	assert_string_equal(line(got, nr), want);
	free(got);
}

static const char *const types[] = { "timestamp", "tid", "comm", "weight", "weight_us", "waited_s", "cpu", "syscall", "scan", NULL };

static void numbers_are_numbers_and_the_unknown_is_null(void **state)
{
	(void)state;
	check_line(&renderer_ndjson, NULL, types, 0,
		   "{\"timestamp\":\"2026-09-21T14:13:20.010000000Z\",\"tid\":100,\"comm\":\"server\",\"weight\":10101010,"
		   "\"weight_us\":10101.010,\"waited_s\":null,\"cpu\":0,\"syscall\":null,\"scan\":null}");
	check_line(&renderer_ndjson, &fixture_wall, types, 0,
		   "{\"timestamp\":\"2026-09-21T14:13:20.040000000Z\",\"tid\":100,\"comm\":\"server\",\"weight\":1,\"weight_us\":null,"
		   "\"waited_s\":0.033000,\"cpu\":null,\"syscall\":\"futex\",\"scan\":1}");
}

static const char *const origins[] = { "host", "kernel", "arch", "recording", "recording_start", "event", "unit", "exe", "exe_build_id",
				       "cgroup", "container", NULL };

static void says_where_samples_are_from(void **state)
{
	(void)state;
	check_line(&renderer_csv, NULL, origins, 1,
		   "fixture,6.1.0-test,x86_64,1,2026-09-21T14:13:20.000000000Z,cpu-clock,ns,/usr/bin/server,"
		   "deadbeef05060708090a0b0c0d0e0f1011121314,/system.slice/server.service,");
	check_line(&renderer_ndjson, NULL, origins, 1,
		   "{\"host\":\"fixture\",\"kernel\":\"6.1.0-test\",\"arch\":\"x86_64\",\"recording\":1,"
		   "\"recording_start\":\"2026-09-21T14:13:20.000000000Z\",\"event\":\"cpu-clock\",\"unit\":\"ns\","
		   "\"exe\":\"/usr/bin/server\",\"exe_build_id\":\"deadbeef05060708090a0b0c0d0e0f1011121314\","
		   "\"cgroup\":\"/system.slice/server.service\",\"container\":null}");
}

static const char *const functions[] = { "function", "kind", "file", "line", "binary", "user_function", "user_binary", "build_id", "stack",
					 NULL };

static void names_the_function_that_ran(void **state)
{
	(void)state;
	check_line(&renderer_csv, NULL, functions, 1,
		   "hot_loop,user,src/server.cc,71,/usr/bin/server,hot_loop,/usr/bin/server,deadbeef05060708090a0b0c0d0e0f1011121314,"
		   "_start;main;handle_request(int);parse_header_[i];hot_loop");
	check_line(&renderer_csv, NULL, functions, 3,
		   "schedule,kernel,,,[kernel.kallsyms],parse_header,/usr/bin/server,deadbeef05060708090a0b0c0d0e0f1011121314,"
		   "_start;main;handle_request(int);parse_header_[i];entry_SYSCALL_64_[k];do_syscall_64_[k];schedule_[k]");
	check_line(&renderer_csv, NULL, functions, 5, "[unknown],user,,,,[unknown],,,[truncated: no-fde];[unknown]");
	check_line(&renderer_csv, &fixture_wall, functions, 2, ",,,,,,,,[on_cpu]");
}

/* Every stack of folded stacks without levels is a cell, and the other way round. */
static void stacks_are_those_of_folded_stacks(void **state)
{
	static const char *const names[] = { "stack", NULL };
	struct render_opts opts = with_columns(names);
	char *rows = fixture_render(&renderer_csv, &opts, NULL), *text, *save, *cell;
	struct fold_options fold = { .by = { .v = { FOLD_BY_NONE }, .nr = 1 } };
	char path[] = "/tmp/probee-report-XXXXXX";
	struct profile *p = NULL;
	struct report *rep;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	fixture_write(path, NULL);
	assert_int_equal(report_open(path, NULL, &rep), 0);
	unlink(path);
	assert_int_equal(fold_report(rep, &fold, &p), 0);
	assert_int_equal(renderer_find("collapse")->render(p, &opts, out), 0);
	fclose(out);
	cell = strtok_r(rows, "\r\n", &save);
	assert_string_equal(cell, "stack");
	for (unsigned nr = 0; (cell = strtok_r(NULL, "\r\n", &save)) || (assert_int_equal(nr, FIX_CPU_SAMPLES), 0); nr++) {
		char *found = strstr(text, cell);

		if (!found || found[strlen(cell)] != ' ' || (found != text && found[-1] != '\n'))
			fail_msg("'%s' is no line of\n%s", cell, text);
	}
	profile_free(p);
	report_close(rep);
	free(text);
	free(rows);
}

static void a_column_stands_there_once(void **state)
{
	static const char *const names[] = { "tid", "comm", "tid", "tid", NULL };

	(void)state;
	check_line(&renderer_ndjson, NULL, names, 0, "{\"tid\":100,\"comm\":\"server\"}");
}

static void hostile_names_stay_strings(void **state)
{
	struct render_opts opts = { .quiet = true };
	char *got;

	(void)state;
	for (const struct csv_column *c = csv_columns; c->name; c++)
		csv_columns_add(&opts.columns_shown, c->name);
	got = fixture_render(&renderer_ndjson, &opts, hostile_names);
	check_is_harmless(got);
	assert_non_null(strstr(got, "\\u003c/script\\u003e\\u001b[31m\\u0000\\u000a"));
	assert_non_null(strstr(got, "\xef\xbf\xbd"));	/* bytes that are no UTF-8 */
	assert_null(strchr(got, '<'));
	assert_true(is_liked_by("python3", "python3 -c '\n"
				"import json, sys\n"
				"names = [list(json.loads(line)) for line in sys.stdin]\n"
				"assert len(names) == 5 and len(names[0]) > 50, names\n"
				"assert all(n == names[0] and len(set(n)) == len(n) for n in names), names'", got));
	free(got);
}

static void has_the_columns_of_the_page(void **state)
{
	char *got = fixture_render(&renderer_ndjson, &(struct render_opts){ .quiet = true }, NULL);
	FILE *f = fopen("docs/SQL.md", "r");
	char page[32768], name[64];

	(void)state;
	assert_non_null(f);
	page[fread(page, 1, sizeof(page) - 1, f)] = 0;
	fclose(f);
	for (const struct csv_column *c = csv_columns; c->name; c++) {
		snprintf(name, sizeof(name), "\"%s\":", c->name);
		if (!strstr(got, name) != !c->is_sql)
			fail_msg("%s: in the rows: %d", c->name, strstr(got, name) != NULL);
		snprintf(name, sizeof(name), "`%s`", c->name);
		if (c->is_sql && !strstr(page, name))
			fail_msg("docs/SQL.md says nothing of %s", name);
	}
	assert_true(renderer_ndjson.made(got));
	assert_false(renderer_ndjson.made("{\"name\":\"all\",\"value\":1}\n"));
	assert_false(renderer_ndjson.made("{\"tid\":1,\n\"comm\":1}\n"));
	assert_false(renderer_ndjson.made(""));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_numbers_and_the_unknown_is_null),
		cmocka_unit_test(says_where_samples_are_from),
		cmocka_unit_test(names_the_function_that_ran),
		cmocka_unit_test(stacks_are_those_of_folded_stacks),
		cmocka_unit_test(a_column_stands_there_once),
		cmocka_unit_test(hostile_names_stay_strings),
		cmocka_unit_test(has_the_columns_of_the_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
