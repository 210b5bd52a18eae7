/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads the list has, in which order and groups, over the threads of trace_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/live/live_profile.h"
#include "src/live/thread_rows.h"
#include "tests/unit/fixture_report.h"

enum { SERVER = 100, WORKER = 101, KWORKER = 7 };	/* tids */

#define S (1000 * FIX_MS)

static const struct live_choice all;

static struct live_profile *begun(void)
{
	struct live_profile *l;

	assert_int_equal(live_profile_new(&l), 0);
	assert_int_equal(fixture_emit_facts(live_profile_record, l), 0);
	assert_int_equal(fixture_emit_tasks(live_profile_record, l), 0);
	return l;
}

static void put(struct live_profile *l, struct rec_sample s)
{
	assert_int_equal(live_profile_record(l, &(struct record){ .tag = REC_SAMPLE, .sample = s }), 0);
}

static void run(struct live_profile *l, uint32_t thread, uint64_t at, uint64_t ns)
{
	put(l, (struct rec_sample){ .event = FIX_E_CPU, .thread = thread, .time_ns = FIX_T0 + at, .weight = ns });
}

static void row(struct live_profile *l, uint32_t thread, uint32_t scan, uint8_t state, uint64_t ran)
{
	put(l, (struct rec_sample){ .event = FIX_E_SCAN, .thread = thread, .time_ns = FIX_T0 + 10 * S, .scan = scan,
				    .weight = 1, .state = state, .ran_ns = ran ? FIX_T0 + ran : 0 });
}

/* The worker takes CPU time, the server has slept for 8 s, the other waits for a disk for one. */
static struct live_profile *three_threads(void)
{
	struct live_profile *l = begun();

	run(l, FIX_T_SERVER, S, 900 * FIX_MS);		/* too long ago */
	run(l, FIX_T_WORKER, 6 * S, 300 * FIX_MS);
	run(l, FIX_T_SERVER, 7 * S, 100 * FIX_MS);
	row(l, FIX_T_SERVER, 2, TASK_SLEEPING, 2 * S);
	row(l, FIX_T_WORKER, 2, TASK_RUNNING, 9 * S);
	row(l, FIX_T_KWORKER, 2, TASK_DISK, 9 * S);
	return l;
}

/* lines: tids; a heading is minus the number of its threads. */
static void check(const struct live_profile *l, const struct live_choice *which, enum thread_sort sort,
		  enum thread_group group, const int *lines, size_t nr)
{
	struct thread_rows r;

	assert_int_equal(thread_rows_init(&r, l, which), 0);
	assert_int_equal(thread_rows_sort(&r, sort, group), 0);
	assert_int_equal(r.nr_lines, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(r.lines[i].nr ? -(int)r.lines[i].nr : (int)r.v[r.lines[i].row].t->tid, lines[i]);
	thread_rows_release(&r);
}
#define CHECK(l, which, sort, group, ...) \
	check(l, which, sort, group, (const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

static void are_sorted_by_what_was_asked(void **state)
{
	struct live_profile *l = three_threads();

	(void)state;
	CHECK(l, &all, SORT_CPU, GROUP_NONE, WORKER, SERVER, KWORKER);
	CHECK(l, &all, SORT_WAITED, GROUP_NONE, SERVER, KWORKER, WORKER);	/* who runs waits least */
	CHECK(l, &all, SORT_STATE, GROUP_NONE, WORKER, SERVER, KWORKER);
	CHECK(l, &all, SORT_NAME, GROUP_NONE, KWORKER, SERVER, WORKER);
	CHECK(l, &all, SORT_TID, GROUP_NONE, KWORKER, SERVER, WORKER);
	live_profile_free(l);
}

static void groups_have_headings(void **state)
{
	struct live_profile *l = three_threads();

	(void)state;
	CHECK(l, &all, SORT_CPU, GROUP_PROCESS, -2, WORKER, SERVER, -1, KWORKER);
	CHECK(l, &all, SORT_WAITED, GROUP_PROCESS, -2, SERVER, WORKER, -1, KWORKER);
	CHECK(l, &all, SORT_TID, GROUP_STATE, -1, WORKER, -1, SERVER, -1, KWORKER);
	CHECK(l, &all, SORT_TID, GROUP_STACK, -3, KWORKER, SERVER, WORKER);	/* none has one */
	live_profile_free(l);
}

static void others_are_left_out(void **state)
{
	static const struct live_choice kworker = { .tgid = KWORKER }, worker = { .tid = WORKER };
	struct live_profile *l = three_threads();

	(void)state;
	CHECK(l, &kworker, SORT_CPU, GROUP_NONE, KWORKER);
	CHECK(l, &worker, SORT_CPU, GROUP_PROCESS, -1, WORKER);
	live_profile_free(l);
}

/* A thread that the last two snapshots did not meet has ended. */
static void those_that_ended_are_left_out(void **state)
{
	struct live_profile *l = three_threads();

	(void)state;
	row(l, FIX_T_SERVER, 3, TASK_SLEEPING, 2 * S);
	CHECK(l, &all, SORT_TID, GROUP_NONE, KWORKER, SERVER, WORKER);	/* snapshot 3 may go on */
	row(l, FIX_T_SERVER, 4, TASK_SLEEPING, 2 * S);
	CHECK(l, &all, SORT_TID, GROUP_NONE, SERVER);
	live_profile_free(l);
}

static void without_snapshots_those_that_ran(void **state)
{
	struct live_profile *l = begun();
	struct thread_rows r;

	(void)state;
	run(l, FIX_T_WORKER, S, 100 * FIX_MS);
	run(l, FIX_T_SERVER, 2 * S, 200 * FIX_MS);
	run(l, FIX_T_KWORKER, 4 * S, 100 * FIX_MS);	/* its window is not over */
	CHECK(l, &all, SORT_CPU, GROUP_NONE, SERVER, WORKER);
	assert_int_equal(thread_rows_init(&r, l, &all), 0);
	assert_int_equal(r.v[0].waited_ns, UINT64_MAX);
	assert_null(r.v[0].rec);
	assert_int_equal(r.v[0].cpu_ns + r.v[1].cpu_ns, 300 * FIX_MS);
	thread_rows_release(&r);
	live_profile_free(l);
}

/* The time before a recording began is not time in which a thread did not run. */
static void shares_are_of_recorded_time(void **state)
{
	static const struct { uint64_t before, of; } v[] = {	/* ms before a second begins */
		{ 1000, 1000 * FIX_MS }, { 600, 600 * FIX_MS }, { 100, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct live_profile *l = begun();
		struct thread_rows r;

		run(l, FIX_T_WORKER, -v[i].before * FIX_MS, 10 * FIX_MS);
		run(l, FIX_T_WORKER, 0, 10 * FIX_MS);
		assert_int_equal(thread_rows_init(&r, l, &all), 0);
		assert_int_equal(r.cpu_of_ns, v[i].of);
		thread_rows_release(&r);
		live_profile_free(l);
	}
}

static void what_is_unknown_is_said_to_be(void **state)
{
	struct live_profile *l = begun();
	struct thread_rows r;

	(void)state;
	row(l, FIX_T_SERVER, 1, TASK_SLEEPING, 0);		/* since when is not known */
	row(l, FIX_T_WORKER, 1, TASK_SLEEPING, 11 * S);		/* and this is later than the row */
	assert_int_equal(thread_rows_init(&r, l, &all), 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.v[0].waited_ns, UINT64_MAX);
	assert_int_equal(r.v[1].waited_ns, UINT64_MAX);
	assert_int_equal(r.states[TASK_SLEEPING], 2);
	assert_int_equal(r.cpu_of_ns, 0);
	thread_rows_release(&r);
	live_profile_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_sorted_by_what_was_asked),
		cmocka_unit_test(groups_have_headings),
		cmocka_unit_test(others_are_left_out),
		cmocka_unit_test(those_that_ended_are_left_out),
		cmocka_unit_test(without_snapshots_those_that_ran),
		cmocka_unit_test(shares_are_of_recorded_time),
		cmocka_unit_test(what_is_unknown_is_said_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
