/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "src/profile/no_match.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "tests/unit/events_fixture.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_files.h"

/* The line that is said, without "probee: FILE: "; "" when all is well. */
static const char *check(const char *name, const struct query *q, const struct match_wish *wish)
{
	static char said[8192];
	const char *path = trace_file(name), *at;
	struct report *rep;
	int err;

	assert_int_equal(report_open(path, q, &rep), 0);
	stderr_begin();
	err = report_check_matches(rep, wish);
	snprintf(said, sizeof(said), "%s", stderr_end());
	report_close(rep);
	assert_int_equal(err, *said ? -ENODATA : 0);
	at = strstr(said, path);
	return at ? at + strlen(path) + 2 : said;
}

static const struct match_wish samples = { .samples = true };

static void all_is_well(void **state)
{
	static const struct match_wish rows = { .scan_rows = true }, second = { .scan_rows = true, .scan = 2 };
	const char *comms[] = { "work*" };
	struct query q = { .comms = { comms, 1, 0 } };

	(void)state;
	assert_string_equal(check("events.pbz", NULL, &samples), "");
	assert_string_equal(check("events.pbz", &q, &samples), "");
	assert_string_equal(check("events.pbz", NULL, &rows), "");
	assert_string_equal(check("events.pbz", &q, &rows), "");
	assert_string_equal(check("events.pbz", NULL, &second), "");
	assert_string_equal(check("nothing.pbz", NULL, &samples), "");
	assert_string_equal(check("nothing.pbz", NULL, &rows), "");
}

static void says_what_filters_could_ask_for(void **state)
{
	const char *comms[] = { "nosuch" };
	uint32_t id = 7;
	struct query q = { .comms = { comms, 1, 0 } };

	(void)state;
	assert_string_equal(check("events.pbz", &q, &samples),
			    "no sample passes: the trace has the thread names appcpp, worker, swapper/0\n");
	q = (struct query){ .pids = { &id, 1, 0 } };
	assert_string_equal(check("events.pbz", &q, &samples), "no sample passes: the trace has the processes 100, 0\n");
	q = (struct query){ .tids = { &id, 1, 0 }, .states = 1u << TASK_ZOMBIE };
	assert_string_equal(check("events.pbz", &q, &samples),
			    "no sample passes: the trace has the threads 100, 101, 0 and the states RUNNING\n");
	q = (struct query){ .states = 1u << TASK_SLEEPING };
	assert_string_equal(check("events.pbz", &q, &samples),
			    "no sample passes: the trace has the states RUNNING. Rows of snapshots do. Try: --weight wall\n");
	q = (struct query){ .from = { TIME_RELATIVE, 60000 * FIX_MS } };
	assert_string_equal(check("both.pbz", &q, &samples),
			    "no sample passes: the trace has 0-2.0 s (14:13:20 to 14:13:22)\n");
	/* Of the event that is shown, and not of all. */
	q = (struct query){ .event = "alloc", .comms = { comms, 1, 0 }, .to = { TIME_RELATIVE, 0 } };
	assert_string_equal(check("events.pbz", &q, &samples),
			    "no sample passes: the trace has 0-0.0 s (14:13:20 to 14:13:20) and the thread names "
			    "appcpp, worker\n");
	/* They exist, but not together. */
	comms[0] = "worker";
	id = 100;
	q = (struct query){ .comms = { comms, 1, 0 }, .tids = { &id, 1, 0 } };
	assert_non_null(strstr(check("events.pbz", &q, &samples), "the thread names appcpp, worker, swapper/0 and the threads"));
}

static void says_which_snapshots_there_are(void **state)
{
	static const struct match_wish ninth = { .scan_rows = true, .scan = 9 }, rows = { .scan_rows = true };
	const char *comms[] = { "swapper*" };
	struct query q = { .comms = { comms, 1, 0 } };

	(void)state;
	assert_string_equal(check("events.pbz", NULL, &ninth),
			    "no row of a snapshot passes: the trace has snapshots 1 to 2\n");
	assert_string_equal(check("events.pbz", &q, &rows),
			    "no row of a snapshot passes: the trace has the thread names appcpp, worker\n");
	assert_string_equal(check("events.pbz", &q, &samples), "");
	assert_non_null(strstr(check("more.pbz", NULL, &rows), "there are no snapshots in it"));
}

static void an_empty_trace_has_nothing_to_filter(void **state)
{
	uint32_t id = 7;
	struct query q = { .pids = { &id, 1, 0 } };

	(void)state;
	assert_string_equal(check("nothing.pbz", &q, &samples), "no sample passes: the trace is empty\n");
}

/* More names than a line holds, none of them harmless. */
static int emit_many(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	static char name[1000];
	int err = 0;

	memset(name, '\033', sizeof(name));
	FIX_SEND(PROCESS, process, { .id = 1, .tgid = 5 });
	for (uint32_t i = 1; i <= 50; i++) {
		name[0] = (char)('0' + i);
		FIX_SEND(STRING, string, { i, name, sizeof(name) - i });
		FIX_SEND(THREAD, thread, { i, 1, i, i, 0, 0 });
		FIX_SEND(SAMPLE, sample, { .time_ns = i, .thread = i });
	}
	return err;
}

static void a_long_list_is_cut(void **state)
{
	const char *comms[] = { "nosuch" };
	struct query q = { .comms = { comms, 1, 0 } };
	const char *said;

	(void)state;
	said = check("many.pbz", &q, &samples);
	assert_true(strlen(said) < 1200);
	assert_null(strchr(said, '\033'));
	assert_non_null(strstr(said, ", ...\n"));
}

static int emit_nothing(struct trace_writer *w)
{
	return trace_writer_record(w, &(struct record){ .tag = REC_END, .end = { .time_ns = 1 } });
}

static int setup(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	if (trace_files_begin())
		return -1;
	trace_file_write("events.pbz", events_emit);
	trace_file_write("more.pbz", events_emit_more);
	trace_file_join("both.pbz", "events.pbz", "more.pbz");
	trace_file_write("nothing.pbz", emit_nothing);
	trace_file_write("many.pbz", emit_many);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(says_what_filters_could_ask_for),
		cmocka_unit_test(says_which_snapshots_there_are),
		cmocka_unit_test(an_empty_trace_has_nothing_to_filter),
		cmocka_unit_test(a_long_list_is_cut),
	};

	return cmocka_run_group_tests(tests, setup, trace_files_teardown);
}
