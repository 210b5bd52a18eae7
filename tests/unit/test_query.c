/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/model/record.h"
#include "src/report/query.h"
#include "tests/unit/stderr_text.h"

#define S NSEC_PER_SEC
#define MIDNIGHT (1790035200ull * S)	/* 2026-09-22 00:00:00 UTC */

static const struct opt from = { .name = "from" }, state_opt = { .name = "state" };

static bool wants_named(const struct query *q, uint32_t tgid, uint32_t tid, const char *comm, const char *kernel_comm)
{
	return query_wants_thread(q, &(struct query_thread){ tgid, tid, comm, kernel_comm, "proc", "/a/b" });
}

static bool wants(const struct query *q, uint32_t tgid, uint32_t tid, const char *comm)
{
	return wants_named(q, tgid, tid, comm, comm);
}

static void everything_by_default(void **state)
{
	const struct query q = { 0 };
	struct time_window w;

	(void)state;
	assert_true(wants(&q, 0, 0, ""));
	assert_true(query_wants_state(&q, TASK_STATE_UNKNOWN));
	assert_true(query_wants_state(&q, 250));
	query_window(&q, 5, 9, &w);
	assert_int_equal(w.from_ns, 0);
	assert_true(w.to_ns == UINT64_MAX);
}

static void threads(void **state)
{
	struct query q = { 0 };

	(void)state;
	assert_int_equal(opt_id_list(&from, "10,20-21", &q.pids), 0);
	assert_true(wants(&q, 10, 11, "a"));
	assert_true(wants(&q, 21, 11, "a"));
	assert_false(wants(&q, 11, 10, "a"));
	assert_int_equal(opt_id_list(&from, "11", &q.tids), 0);
	assert_true(wants(&q, 10, 11, "a"));
	assert_false(wants(&q, 10, 12, "a"));
	query_parse_glob(&from, "k*d", &q.comms);
	query_parse_glob(&from, "?ash", &q.comms);
	assert_true(wants(&q, 10, 11, "bash"));
	assert_true(wants(&q, 10, 11, "ksoftirqd"));
	assert_true(wants(&q, 10, 11, "k/d"));
	assert_false(wants(&q, 10, 11, "ash"));
	assert_false(wants(&q, 10, 11, ""));
	assert_true(wants_named(&q, 10, 11, "Thread-1 (work)", "bash"));	/* either name is enough */
	assert_true(wants_named(&q, 10, 11, "bash", "python3"));
	assert_false(wants_named(&q, 10, 11, "Thread-1 (work)", "python3"));
	query_release(&q);
	assert_true(wants(&q, 10, 11, "ash"));
}

static void processes_cgroups_and_cpus(void **state)
{
	struct query q = { 0 };

	(void)state;
	query_parse_glob(&from, "pr*", &q.processes);
	assert_true(wants(&q, 10, 11, "a"));
	query_parse_glob(&from, "/a/*", &q.cgroups);
	assert_true(wants(&q, 10, 11, "a"));
	assert_true(query_wants_cpu(&q, UINT32_MAX));
	assert_int_equal(opt_id_list(&from, "0,2-3", &q.cpus), 0);
	assert_true(query_wants_cpu(&q, 0) && query_wants_cpu(&q, 3));
	assert_false(query_wants_cpu(&q, 1) || query_wants_cpu(&q, UINT32_MAX));
	query_release(&q);
	query_parse_glob(&from, "/b*", &q.cgroups);
	assert_false(wants(&q, 10, 11, "a"));
	query_release(&q);
	query_parse_glob(&from, "other", &q.processes);
	assert_false(wants(&q, 10, 11, "a"));
	query_release(&q);
}

static uint32_t states(const char *text)
{
	uint32_t mask = 0;

	stderr_begin();
	if (query_parse_states(&state_opt, text, &mask)) {
		assert_non_null(strstr(stderr_end(), "--state"));
		return UINT32_MAX;
	}
	assert_string_equal(stderr_end(), "");
	return mask;
}

static void states_by_letter_and_word(void **state)
{
	struct query q = { .states = 1u << TASK_DISK };

	(void)state;
	assert_int_equal(states("R"), 1u << TASK_RUNNING | 1u << TASK_RUNNABLE);
	assert_int_equal(states("D"), 1u << TASK_DISK | 1u << TASK_DISK_NOLOAD | 1u << TASK_KILLABLE |
			 1u << TASK_RTLOCK);
	assert_int_equal(states("S,I"), 1u << TASK_SLEEPING | 1u << TASK_IDLE);
	assert_int_equal(states("T"), 1u << TASK_STOPPED);
	assert_int_equal(states("t"), 1u << TASK_TRACED);
	assert_int_equal(states("sleep,DISK"), 1u << TASK_SLEEPING | 1u << TASK_DISK);
	assert_int_equal(states(""), UINT32_MAX);
	assert_int_equal(states("S,"), UINT32_MAX);
	assert_int_equal(states("NAP"), UINT32_MAX);
	assert_true(query_wants_state(&q, TASK_DISK));
	assert_false(query_wants_state(&q, TASK_RUNNING));
	assert_false(query_wants_state(&q, TASK_STATES));
	assert_false(query_wants_state(&q, 255));
}

static void filters_are_told_from_the_event(void **state)
{
	uint32_t id = 1;
	const char *comm = "x";
	struct query q = { .event = "cpu-clock", .weight = WEIGHT_WALL };

	(void)state;
	assert_false(query_has_filter(&q));
	q.pids = (struct id_list){ &id, 1, 0 };
	assert_true(query_has_filter(&q));
	q = (struct query){ .tids = { &id, 1, 0 } };
	assert_true(query_has_filter(&q));
	q = (struct query){ .comms = { &comm, 1, 0 } };
	assert_true(query_has_filter(&q));
	q = (struct query){ .states = 1 };
	assert_true(query_has_filter(&q));
	q = (struct query){ .from = { TIME_RELATIVE, 0 } };
	assert_true(query_has_filter(&q));
	q = (struct query){ .to = { TIME_RELATIVE, 0 } };
	assert_true(query_has_filter(&q));
}

static struct time_point point(const char *text)
{
	struct time_point t = { 0 };

	assert_int_equal(query_parse_time(&from, text, &t), 0);
	return t;
}

static void times(void **state)
{
	static const char *const bad[] = { "", "x", "25:00", "12:61", "10:00:00.", "10:00:00.5x", "2026-13-01 10:00",
					   "-", "--5s", "-x", "-10:00", "5parsecs" };
	static const struct { const char *text; enum time_point_kind kind; uint64_t ns; } good[] = {
		{ "10s", TIME_RELATIVE, 10 * S }, { "200ms", TIME_RELATIVE, S / 5 }, { "0", TIME_RELATIVE, 0 },
		{ "-10s", TIME_BEFORE_END, 10 * S }, { "-1.5m", TIME_BEFORE_END, 90 * S }, { "-0", TIME_BEFORE_END, 0 },
		{ "0s", TIME_RELATIVE, 0 }, { "14:05", TIME_OF_DAY, 50700 * S },
		{ "14:05:09.25", TIME_OF_DAY, 50709 * S + S / 4 }, { "00:00", TIME_OF_DAY, 0 },
		{ "2026-09-22 00:00:01", TIME_DATE, MIDNIGHT + S }, { "2026-09-22T01:00:00", TIME_DATE, MIDNIGHT + 3600 * S },
		{ "2026-09-22 00:00:00.000000001", TIME_DATE, MIDNIGHT + 1 }, { "2026-09-22 00:01", TIME_DATE, MIDNIGHT + 60 * S },
	};
	struct time_point t;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		t = point(good[i].text);
		assert_int_equal(t.kind, good[i].kind);
		assert_int_equal(t.ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		stderr_begin();
		assert_int_not_equal(query_parse_time(&from, bad[i], &t), 0);
		assert_non_null(strstr(stderr_end(), "--from"));
	}
}

static struct time_window window(const char *a, const char *b, uint64_t first, uint64_t last)
{
	struct query q = { .from = point(a), .to = point(b) };
	struct time_window w;

	query_window(&q, first, last, &w);
	return w;
}

static void windows(void **state)
{
	struct time_window w = window("10s", "20s", MIDNIGHT, MIDNIGHT + 60 * S);

	(void)state;
	assert_int_equal(w.from_ns, MIDNIGHT + 10 * S);
	assert_int_equal(w.to_ns, MIDNIGHT + 20 * S);

	/* The last ten seconds but two; more than there is. */
	w = window("-10s", "-2s", MIDNIGHT, MIDNIGHT + 60 * S);
	assert_int_equal(w.from_ns, MIDNIGHT + 50 * S);
	assert_int_equal(w.to_ns, MIDNIGHT + 58 * S);
	w = window("-100h", "-1s", 5 * S, 9 * S);
	assert_int_equal(w.from_ns, 0);
	assert_int_equal(w.to_ns, 8 * S);

	/* From 23:00 to 02:00 of the next day. */
	w = window("23:30", "00:30", MIDNIGHT + 23 * 3600 * S, MIDNIGHT + 26 * 3600 * S);
	assert_int_equal(w.from_ns, MIDNIGHT + 23 * 3600 * S + 1800 * S);
	assert_int_equal(w.to_ns, MIDNIGHT + 24 * 3600 * S + 1800 * S);

	/* Before the first sample, and it does not come again: all of it. */
	w = window("10:00", "12:30", MIDNIGHT + 12 * 3600 * S, MIDNIGHT + 13 * 3600 * S);
	assert_int_equal(w.from_ns, MIDNIGHT + 10 * 3600 * S);
	assert_int_equal(w.to_ns, MIDNIGHT + 12 * 3600 * S + 1800 * S);

	w = window("2026-09-22 00:00:05", "0s", MIDNIGHT, MIDNIGHT);
	assert_int_equal(w.from_ns, MIDNIGHT + 5 * S);
	assert_int_equal(w.to_ns, MIDNIGHT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_by_default),
		cmocka_unit_test(threads),
		cmocka_unit_test(processes_cgroups_and_cpus),
		cmocka_unit_test(states_by_letter_and_word),
		cmocka_unit_test(filters_are_told_from_the_event),
		cmocka_unit_test(times),
		cmocka_unit_test(windows),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
