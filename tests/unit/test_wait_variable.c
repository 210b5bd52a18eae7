/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The static variable of a futex, from a row of a trace to the reports of waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_waits, renderer_waits_json;

enum { NAMED = 2, NAMELESS = 5 };	/* frames of the fixture: main + 0x34; 0x7700 */

struct filling {
	struct fixture_rename rename;
	uint32_t variable;
};

/* The fixture has one row that waits for a futex. */
static int fill(void *ctx, const struct record *rec)
{
	struct filling *f = ctx;
	struct record copy = *rec;

	if (rec->tag == REC_SAMPLE && rec->sample.wait)
		copy.sample.variable = f->variable;
	return fixture_rename(&f->rename, &copy);
}

/* What the variable main is called here. */
static const struct fixture_name gil[FIX_STRINGS] = { [FIX_S_MAIN] = { "_PyRuntime", 10 } };

static char *render(const struct renderer *r, uint32_t variable, const struct fixture_name *names)
{
	char path[] = "/tmp/probee-variable-XXXXXX", *text = NULL;
	struct filling f = { .rename.names = names, .variable = variable };
	static const struct render_opts plain;
	struct report *rep = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int fd = mkstemp(path);

	assert_true(fd >= 0 && out);
	close(fd);
	unlink(path);
	assert_int_equal(trace_writer_open(path, NULL, &f.rename.writer), 0);
	assert_int_equal(trace_fixture_emit(fill, &f), 0);
	assert_int_equal(trace_writer_close(f.rename.writer), 0);
	assert_int_equal(report_open(path, NULL, &rep), 0);
	unlink(path);
	assert_int_equal(r->stream(rep, &plain, out), 0);
	assert_int_equal(fclose(out), 0);
	report_close(rep);
	return text;
}

static void check(const struct renderer *r, uint32_t variable, const char *want, bool is_there)
{
	char *text = render(r, variable, NULL);

	if (!!strstr(text, want) != is_there)
		fail_msg("%s is %sin:\n%s", want, is_there ? "not " : "", text);
	free(text);
}

static void is_named_in_text(void **state)
{
	(void)state;
	check(&renderer_waits, NAMED, "  futex main+0x34  ", true);
	check(&renderer_waits, NAMELESS, "  futex [server+0x7700]  ", true);
	check(&renderer_waits, 0, "  futex 0x7700  ", true);
}

/* Even where no function of the stack says that it takes the GIL. */
static void is_the_gil_of_python(void **state)
{
	char *text = render(&renderer_waits, NAMED, gil);

	(void)state;
	assert_non_null(strstr(text, "  Python's GIL _PyRuntime+0x34  "));
	free(text);
}

static void is_named_in_json(void **state)
{
	(void)state;
	check(&renderer_waits_json, NAMED,
	      "\"futex\":\"0x7700\",\"owner_tid\":101,\"variable\":\"main\",\"variable_offset\":52", true);
	check(&renderer_waits_json, NAMELESS, "\"variable\":\"[server+0x7700]\"", true);
	check(&renderer_waits_json, NAMELESS, "variable_offset", false);
	check(&renderer_waits_json, 0, "\"variable\"", false);
}

static void is_harmless(void **state)
{
	char *text = render(&renderer_waits, NAMED, hostile_names);
	char *json = render(&renderer_waits_json, NAMED, hostile_names);

	(void)state;
	assert_non_null(strstr(text, "+0x34"));
	for (char *p = text; (p = strchr(p, '\t')); p++)
		*p = ' ';	/* our own */
	check_is_harmless(text);
	assert_true(is_liked_by("python3", "python3 -c 'import json, sys; json.load(sys.stdin)'", json));
	free(text);
	free(json);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_named_in_text), cmocka_unit_test(is_the_gil_of_python), cmocka_unit_test(is_named_in_json),
		cmocka_unit_test(is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
