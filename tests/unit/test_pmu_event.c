/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUs as the kernel describes those of a Core i7 and of a Power9, in a folder of their own. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/opt.h"
#include "src/capture/collectors/pmu_event.h"
#include "src/model/record.h"

#include <cmocka.h>

#include "tests/unit/stderr_text.h"

static char devices[] = "/tmp/probee-pmu.XXXXXX";
static const struct opt event_opt = { 'e', "event", "EVENTS", "", event_list_parse, 0, NULL, NULL,
				      NULL };

static const struct {
	const char *path, *text;
} files[] = {
	{ "cpu", NULL },
	{ "cpu/type", "4\n" },
	{ "cpu/format", NULL },
	{ "cpu/format/event", "config:0-7\n" },
	{ "cpu/format/umask", "config:8-15\n" },
	{ "cpu/format/inv", "config:23\n" },
	{ "cpu/format/cmask", "config:24-31\n" },
	{ "cpu/format/ldlat", "config1:0-15\n" },
	{ "cpu/format/wide", "config:0-7,32-35\n" },
	{ "cpu/format/bad", "config:9-3\n" },
	{ "cpu/format/odd", "config9:1\n" },
	{ "cpu/events", NULL },
	{ "cpu/events/cache-misses", "event=0x2e,umask=0x41\n" },
	{ "cpu/events/cache-misses.scale", "1\n" },
	{ "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ "cpu/events/loop", "loop\n" },
	{ "other", NULL },
};

static int setup(void **state)
{
	char path[256];

	(void)state;
	if (!mkdtemp(devices))
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", devices, files[i].path);
		if (!files[i].text) {
			if (mkdir(path, 0700))
				return -1;
			continue;
		}
		f = fopen(path, "w");
		if (!f)
			return -1;
		fputs(files[i].text, f);
		fclose(f);
	}
	return 0;
}

static int teardown(void **state)
{
	char path[256];

	(void)state;
	for (size_t i = sizeof(files) / sizeof(files[0]); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", devices, files[i].path);
		remove(path);
	}
	return remove(devices);
}

static int parse(const char *text, struct event_spec *e)
{
	*e = (struct event_spec){ 0 };
	return pmu_event_parse(&event_opt, devices, text, strlen(text), e);
}

/* Parses, and gives the attributes that the kernel would get. */
static struct event_type parsed(const char *text, struct event_spec *e)
{
	struct event_type t;

	assert_int_equal(parse(text, e), 0);
	t = *e->own;
	free(e->own);
	return t;
}

static void test_fields(void **state)
{
	struct event_spec e;
	struct event_type t = parsed("cpu/event=0x3c,umask=0x01/", &e);

	(void)state;
	assert_int_equal(t.type, 4);
	assert_int_equal(t.config, 0x13c);
	assert_int_equal(t.kind, EVENT_HARDWARE);
	assert_string_equal(t.unit, "count");
	assert_string_equal(e.name, "cpu/event=0x3c,umask=0x01/");
	assert_int_equal(parsed("cpu/event=0xc0,inv,cmask=10/", &e).config, 0xa8000c0);
	assert_int_equal(parsed("cpu/wide=0xfff/", &e).config, 0xf000000ffull);
	assert_int_equal(parsed("cpu/config=0x123456789a,config1=7,config2=8/", &e).config,
			 0x123456789a);
	assert_int_equal(e.config1, 7);
	assert_int_equal(e.config2, 8);
	assert_int_equal(parsed("cpu/event=1,event=2/", &e).config, 2);	/* the last one counts */
}

static void test_named_events(void **state)
{
	struct event_spec e;

	(void)state;
	assert_int_equal(parsed("cpu/cache-misses/", &e).config, 0x412e);
	assert_int_equal(parsed("cpu/mem-loads,ldlat=30/u", &e).config, 0x1cd);
	assert_int_equal(e.config1, 30);
	assert_true(e.no_kernel && !e.no_user);
	assert_int_equal(parsed("cpu/cache-misses,period=100000/kpp", &e).config, 0x412e);
	assert_true(e.no_user && e.period == 100000 && e.precise == 2);
	assert_int_equal(parsed("cpu/cache-misses,freq=49.5,name=misses/", &e).config, 0x412e);
	assert_true(e.freq_hz == 49.5);
	assert_string_equal(e.name, "misses");
}

static void test_raw_events(void **state)
{
	struct event_spec e;

	(void)state;
	assert_int_equal(parsed("r13c", &e).config, 0x13c);
	assert_int_equal(parsed("r13c:u", &e).type, PERF_TYPE_RAW);
	assert_true(e.no_kernel);
	assert_string_equal(e.name, "r13c:u");
	assert_true(pmu_event_is_raw("r003c", 5));
	assert_false(pmu_event_is_raw("read", 4));	/* a function */
	assert_false(pmu_event_is_raw("r", 1));
	assert_false(pmu_event_is_raw("r1234567890123456g", 18));
	assert_false(pmu_event_is_raw("route2", 6));
}

static void test_where_an_event_ends(void **state)
{
	(void)state;
	assert_int_equal(pmu_event_len("cpu/event=1,umask=2/u,cs"), 21);
	assert_int_equal(pmu_event_len("cs,cpu/a,b/"), 2);
	assert_int_equal(pmu_event_len("cpu/a,b"), 7);
	assert_true(pmu_event_is_pmu(devices, "cpu/x/", 6));
	assert_false(pmu_event_is_pmu(devices, "cpu", 3));
	assert_false(pmu_event_is_pmu(devices, "gpu/x/", 6));
	assert_false(pmu_event_is_pmu(devices, "../x/", 5));
	assert_false(pmu_event_is_pmu(devices, "/x/", 3));
}

static void expect_refused(const char *text, const char *words)
{
	struct event_spec e;
	const char *said;
	int err;

	stderr_begin();
	err = parse(text, &e);
	said = stderr_end();
	if (!strstr(said, words))
		print_error("'%s' is refused without '%s': %s", text, words, said);
	assert_int_equal(err, -EINVAL);
	assert_non_null(strstr(said, words));
	assert_null(e.own);
}

static void test_refusals(void **state)
{
	(void)state;
	expect_refused("cpu/event=0x3c", "between two slashes");
	expect_refused("cpu/", "between two slashes");
	expect_refused("cpu/event=x/", "no number");
	expect_refused("cpu/event=/", "no number");
	expect_refused("cpu/event=0x100/", "too large");
	expect_refused("cpu/speed=1/", "no such field");
	expect_refused("cpu/nothing/", "names no such event");
	expect_refused("cpu/bad=1/", "too large");
	expect_refused("cpu/odd=1/", "too large");
	expect_refused("cpu/loop/", "names no such event");
	expect_refused("cpu/../type/", "names no such event");
	expect_refused("cpu/event=1/x", "no such mode");
	expect_refused("cpu/period=0/", "from 1 on");
	expect_refused("r13c:", "no such mode");
	expect_refused("other/event=1/", "number of this PMU");
}

static void test_list(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	pmu_event_list(devices, out);
	fclose(out);
	assert_string_equal(text, "  cpu/cache-misses/\n  cpu/loop/\n  cpu/mem-loads/\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_named_events),
		cmocka_unit_test(test_raw_events),
		cmocka_unit_test(test_where_an_event_ends),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
