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

#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/trace_events.h"
#include "tests/unit/events_fixture.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_files.h"

static struct report *rep;

static int open_for(const char *name, const struct query *q)
{
	report_close(rep);
	rep = NULL;
	return report_open(trace_file(name), q, &rep);
}

static const struct trace_event *event_named(const char *name)
{
	const struct trace_events *t = report_events(rep);

	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->v[i].name, name))
			return &t->v[i];
	fail_msg("no event %s", name);
	return NULL;
}

static void check_event(const char *name, const char *unit, uint64_t samples, uint64_t weight)
{
	const struct trace_event *e = event_named(name);

	assert_string_equal(e->unit, unit);
	assert_int_equal(e->samples, samples);
	assert_true(e->weight == weight);
}

static void sums_each_event_in_its_unit(void **state)
{
	(void)state;
	assert_int_equal(open_for("events.pbz", NULL), 0);
	assert_int_equal(report_events(rep)->nr, 5);
	check_event("cpu-clock", "ns", 4, 4 * EVENTS_PERIOD);
	check_event("page-faults", "count", 2, 350);
	check_event("alloc", "bytes", 2, 4000000);
	check_event("snapshot", "ns", 3, 3000000000);
	check_event("context-switches", "count", 0, 0);
	assert_int_equal(event_named("cpu-clock")->freq_mhz, 99000);
	assert_false(event_named("page-faults")->varies);
}

static void events_of_one_name_and_unit_are_one(void **state)
{
	(void)state;
	assert_int_equal(open_for("both.pbz", NULL), 0);
	assert_int_equal(report_events(rep)->nr, 6);
	check_event("cpu-clock", "ns", 5, 4 * EVENTS_PERIOD + EVENTS_OTHER_PERIOD);
	check_event("page-faults", "count", 3, 360);
	check_event("cycles", "cycles", 1, 1200000000);
	assert_true(event_named("page-faults")->varies);
	assert_true(event_named("cpu-clock")->varies);
	assert_false(event_named("alloc")->varies);
}

static uint64_t samples, weight;

static int add(void *ctx, const struct report_sample *s)
{
	(void)ctx;
	samples++;
	weight += s->weight;
	return 0;
}

static void check_shown(const char *name, const struct query *q, const char *event, uint64_t nr, uint64_t sum)
{
	samples = weight = 0;
	assert_int_equal(open_for(name, q), 0);
	assert_string_equal(report_event(rep)->name, event);
	assert_int_equal(report_samples(rep, add, NULL), 0);
	assert_int_equal(samples, nr);
	assert_true(weight == sum);
}

static void one_event_is_shown(void **state)
{
	struct query q = { 0 };

	(void)state;
	check_shown("both.pbz", NULL, "cpu-clock", 5, 4 * EVENTS_PERIOD + EVENTS_OTHER_PERIOD);
	check_shown("both.pbz", &q, "cpu-clock", 5, 4 * EVENTS_PERIOD + EVENTS_OTHER_PERIOD);
	q.weight = WEIGHT_WALL;
	check_shown("both.pbz", &q, "snapshot", 3, 3000000000);
	q.weight = WEIGHT_CPU;
	check_shown("both.pbz", &q, "cpu-clock", 5, 4 * EVENTS_PERIOD + EVENTS_OTHER_PERIOD);
	q = (struct query){ .event = "page-faults" };
	check_shown("both.pbz", &q, "page-faults", 3, 360);
	q.event = "cycles";
	check_shown("both.pbz", &q, "cycles", 1, 1200000000);
	check_shown("more.pbz", NULL, "cycles", 1, 1200000000);	/* CPU time, and the first one */
	check_shown("faults.pbz", NULL, "page-faults", 1, 7);
}

static void events_of_one_unit_are_shown_as_one(void **state)
{
	struct query q = { .event = "snapshot,cpu-clock" };

	(void)state;
	check_shown("both.pbz", &q, "snapshot + cpu-clock", 8, 4 * EVENTS_PERIOD + EVENTS_OTHER_PERIOD + 3000000000);
	assert_string_equal(report_event(rep)->unit, "ns");
	assert_true(report_event(rep)->weight == weight);
	assert_int_equal(report_event(rep)->samples, 8);
	check_event("cpu-clock", "ns", 0, 0);		/* all of its samples are in the other */
	check_event("page-faults", "count", 3, 360);
	q.event = "cpu-clock,cpu-clock,";
	check_shown("both.pbz", &q, "cpu-clock", 5, 4 * EVENTS_PERIOD + EVENTS_OTHER_PERIOD);
	q.event = "cpu-clock,page-faults";
	stderr_begin();
	assert_int_equal(open_for("both.pbz", &q), -EINVAL);
	assert_non_null(strstr(stderr_end(), "--event: page-faults counts count and cpu-clock ns, which are not added"));
}

static void check_refused(const char *name, const struct query *q, const char *want)
{
	char all[1024];

	stderr_begin();
	assert_int_equal(open_for(name, q), -ENODATA);
	assert_null(rep);
	snprintf(all, sizeof(all), "probee: %s: %s\n", trace_file(name), want);
	assert_string_equal(stderr_end(), all);
}

static void says_which_events_there_are(void **state)
{
	struct query q = { .event = "nonsense" };

	(void)state;
	check_refused("events.pbz", &q, "--event nonsense: there is no such event. There are samples of: cpu-clock, "
		      "page-faults, alloc, snapshot");
	q.event = "context-switches";
	check_refused("events.pbz", &q, "--event context-switches: context-switches was recorded but has no samples. "
		      "There are samples of: cpu-clock, page-faults, alloc, snapshot");
	q.event = "cpu-clock,nonsense";
	check_refused("events.pbz", &q, "--event nonsense: there is no such event. There are samples of: "
		      "cpu-clock, page-faults, alloc, snapshot");
	q = (struct query){ .weight = WEIGHT_WALL };
	check_refused("more.pbz", &q, "--weight wall: no event measured that. There are samples of: page-faults, "
		      "cycles, cpu-clock");
	q = (struct query){ .weight = WEIGHT_CPU };
	check_refused("faults.pbz", &q, "--weight cpu: cpu-clock was recorded but has no samples. There are samples "
		      "of: page-faults");
	q = (struct query){ .event = "x" };
	check_refused("nothing.pbz", &q, "--event x: there is no such event. The trace has no samples at all");
	assert_int_equal(open_for("nothing.pbz", NULL), 0);
	assert_null(report_event(rep));
}

/* An event of CPU time that never fired, and one that did. */
static int emit_faults(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = events_emit_names(fn, ctx, "probee");

	FIX_SEND(EVENT, event, { 1, EV_CPU, EVENT_CPU_CLOCK, 99000, 5, EV_NS });
	FIX_SEND(EVENT, event, { 2, EV_FAULTS, EVENT_SOFTWARE, 0, 7, EV_COUNT });
	return err ? err : events_emit_sample(fn, ctx, 1, 2, 1, 1, 0);
}

static int emit_nothing(struct trace_writer *w)
{
	return trace_writer_record(w, &(struct record){ .tag = REC_END, .end = { .time_ns = 1 } });
}

/* One name, two units; no period and no weight; no EVENT at all; weights that sum up to too much. */
static int emit_odd(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = events_emit_names(fn, ctx, "probee");

	FIX_SEND(EVENT, event, { 1, EV_ALLOC, EVENT_UPROBE, 0, 1, EV_BYTES });
	FIX_SEND(EVENT, event, { 2, EV_ALLOC, EVENT_UPROBE, 0, 1, EV_COUNT });
	FIX_SEND(EVENT, event, { 3, EV_CYCLES, EVENT_CYCLES, 99000, 0, EV_CYCLES });
	for (uint32_t i = 0; i < 3; i++) {
		err = err ? err : events_emit_sample(fn, ctx, i, 1, 1, 1 + i, UINT64_MAX - 1);
		err = err ? err : events_emit_sample(fn, ctx, i, 2, 1, 1, 5);
		err = err ? err : events_emit_sample(fn, ctx, i, 3, 1, 1, i ? 1000000 : 0);
		err = err ? err : events_emit_sample(fn, ctx, i, 0, 1, 1, 1000);
	}
	FIX_SEND(SAMPLE, sample, { .time_ns = FIX_T0 + 9, .thread = 1, .scan = 1 });
	return err;
}

/* A name that is too long is cut where that tells least: its function stays. */
static void labels_keep_functions(void **state)
{
	static const struct { const char *name, *label; } cases[] = {
		{ "cpu-clock", "cpu-clock" },
		{ "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc", "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc" },
		{ "uprobe:/usr/lib/x86_64-linux-gnu/some/where/deep/libc.so.6:pthread_mutex_lock",
		  "uprobe:.../libc.so.6:pthread_mutex_lock" },
		{ "tracepoint:no:path:in:this:one:but:it:is:longer:than:60:bytes:in:all",
		  "tracepoint:no:path:in:this:one:but:it:is:longer:than:60:byte" },
		{ "u:/a/name-of-a-file-that-is-much-too-long-to-be-shown-in-whole-by-anybody:f",
		  "u:/a/name-of-a-file-that-is-much-too-long-to-be-shown-in-who" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_event e = { .name = cases[i].name, .unit = "count" };
		char label[EVENT_LABEL_MAX];

		assert_string_equal(trace_event_label(&e, label), cases[i].label);
	}
}

static void what_makes_no_sense_is_counted(void **state)
{
	struct query q = { .event = "alloc (count)" };

	(void)state;
	assert_int_equal(open_for("odd.pbz", NULL), 0);
	check_event("cycles", "samples", 3, 3);
	check_event("[unknown event]", "samples", 3, 3);
	check_event("[unknown snapshot]", "samples", 1, 1);
	check_event("alloc", "bytes", 3, UINT64_MAX);
	check_shown("odd.pbz", &q, "alloc", 3, 15);
	assert_string_equal(report_event(rep)->unit, "count");
	q.event = "[unknown event]";
	check_shown("odd.pbz", &q, "[unknown event]", 3, 3);
	q = (struct query){ .weight = WEIGHT_WALL };
	check_shown("odd.pbz", &q, "[unknown snapshot]", 1, 1);
}

static void lists_fit(void **state)
{
	char list[64], small[8];

	(void)state;
	assert_int_equal(open_for("odd.pbz", NULL), 0);
	trace_events_list(report_events(rep), true, 0, list, sizeof(list));
	assert_string_equal(list, "alloc (count), cycles, [unknown event], [unknown snapshot]");
	trace_events_list(report_events(rep), true, NO_EVENT, small, sizeof(small));
	assert_string_equal(small, "alloc (");
	trace_events_list(report_events(rep), false, NO_EVENT, small, sizeof(small));
	assert_string_equal(small, "");
}

static int setup(void **state)
{
	(void)state;
	if (trace_files_begin())
		return -1;
	trace_file_write("events.pbz", events_emit);
	trace_file_write("more.pbz", events_emit_more);
	trace_file_join("both.pbz", "events.pbz", "more.pbz");
	trace_file_write("faults.pbz", emit_faults);
	trace_file_write("nothing.pbz", emit_nothing);
	trace_file_write("odd.pbz", emit_odd);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_close(rep);
	trace_files_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_each_event_in_its_unit),
		cmocka_unit_test(events_of_one_name_and_unit_are_one),
		cmocka_unit_test(one_event_is_shown),
		cmocka_unit_test(events_of_one_unit_are_shown_as_one),
		cmocka_unit_test(says_which_events_there_are),
		cmocka_unit_test(labels_keep_functions),
		cmocka_unit_test(what_makes_no_sense_is_counted),
		cmocka_unit_test(lists_fit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
