/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers in the records of a recording: threads in D, and probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/flight/row_watch.h"

#define S 1000000000ull

struct world {
	struct trigger_list l;
	struct row_watch w;
	char log[1024];
};

static void on_trigger(void *ctx, size_t number, uint64_t time_ns, const char *text)
{
	struct world *w = ctx;
	size_t n = strlen(w->log);

	snprintf(w->log + n, sizeof(w->log) - n, "%zu at %u: %s\n", number,
		 (unsigned)(time_ns / S), text);
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	assert_int_equal(trigger_list_add(&w->l, "--trigger", "d-state>5s"), 0);
	assert_int_equal(trigger_list_add(&w->l, "--trigger", "probe:uprobe:app:f"), 0);
	row_watch_init(&w->w, &w->l, on_trigger, w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	row_watch_release(&w->w);
	trigger_list_release(&w->l);
	test_free(w);
	return 0;
}

static void give(struct world *w, struct record rec)
{
	assert_int_equal(row_watch_record(&w->w, &rec), 0);
}

#define GIVE(w, NAME, field, ...) \
	give((w), (struct record){ .tag = REC_##NAME, .field = { __VA_ARGS__ } })

static void put_row(struct world *w, uint32_t thread, uint32_t scan, unsigned s, uint8_t state,
		    unsigned ran_s)
{
	GIVE(w, SAMPLE, sample, .thread = thread, .scan = scan, .time_ns = s * S, .state = state,
	     .ran_ns = ran_s * S);
}

static void put_repeat(struct world *w, uint32_t scan, unsigned s, uint32_t from, uint32_t nr)
{
	const struct rec_run run = { from, nr };

	GIVE(w, REPEAT, repeat, .time_ns = s * S, .scan = scan, .runs = &run, .nr_runs = 1);
}

static void test_a_thread_is_told_of_once_for_each_sleep(void **state)
{
	struct world *w = *state;

	GIVE(w, THREAD, thread, .id = 1, .tid = 501);
	GIVE(w, THREAD, thread, .id = 2, .tid = 502);
	put_row(w, 1, 1, 100, TASK_DISK, 99);
	put_row(w, 2, 1, 100, TASK_SLEEPING, 10);
	GIVE(w, SCAN, scan, .scan = 1);
	put_repeat(w, 2, 103, 1, 2);
	GIVE(w, SCAN, scan, .scan = 2);
	assert_string_equal(w->log, "");
	put_repeat(w, 3, 104, 1, 2);
	GIVE(w, SCAN, scan, .scan = 3);
	put_repeat(w, 4, 105, 1, 2);
	GIVE(w, SCAN, scan, .scan = 4);
	assert_string_equal(w->log, "0 at 104: thread 501 for 5.0 s\n");
	put_row(w, 1, 5, 106, TASK_KILLABLE, 106);
	GIVE(w, SCAN, scan, .scan = 5);
	put_repeat(w, 6, 112, 1, 1);
	assert_string_equal(w->log, "0 at 104: thread 501 for 5.0 s\n"
				    "0 at 112: thread 501 for 6.0 s\n");
}

/* The next segment has other ids, and a row for each thread. */
static void test_a_sleep_goes_on_in_the_next_segment(void **state)
{
	struct world *w = *state;

	GIVE(w, THREAD, thread, .id = 1, .tid = 501);
	put_row(w, 1, 1, 100, TASK_DISK, 90);
	GIVE(w, SCAN, scan, .scan = 1);
	row_watch_begin_segment(&w->w);
	put_repeat(w, 2, 101, 1, 3);	/* an id that is not its any more */
	GIVE(w, THREAD, thread, .id = 3, .tid = 501);
	put_row(w, 3, 2, 102, TASK_DISK, 90);
	GIVE(w, SCAN, scan, .scan = 2);
	assert_string_equal(w->log, "0 at 100: thread 501 for 10.0 s\n");
}

/* A tid that comes again, and a thread that is in no scan any more. */
static void test_a_thread_that_ended_is_forgotten(void **state)
{
	struct world *w = *state;

	GIVE(w, THREAD, thread, .id = 1, .tid = 501);
	put_row(w, 1, 1, 100, TASK_DISK, 99);
	GIVE(w, SCAN, scan, .scan = 1);
	GIVE(w, SCAN, scan, .scan = 2);
	assert_int_equal(w->w.nr, 0);
	put_repeat(w, 3, 110, 1, 1);
	assert_string_equal(w->log, "");
}

/* Samples and stays off a CPU have no part in it. */
static void test_only_rows_count(void **state)
{
	struct world *w = *state;

	GIVE(w, THREAD, thread, .id = 1, .tid = 501);
	put_row(w, 1, 0, 100, TASK_DISK, 50);
	put_row(w, 1, 1, 100, TASK_DISK, 0);
	assert_string_equal(w->log, "");
}

static void put_string(struct world *w, uint32_t id, const char *text)
{
	GIVE(w, STRING, string, id, text, strlen(text));
}

static void test_probes(void **state)
{
	struct world *w = *state;

	put_string(w, 1, "cpu-clock");
	put_string(w, 2, "uprobe:app:f");
	put_string(w, 3, "uprobe:app:ff");
	GIVE(w, EVENT, event, .id = 1, .name = 1);
	GIVE(w, EVENT, event, .id = 2, .name = 3);
	GIVE(w, EVENT, event, .id = 3, .name = 2);
	GIVE(w, THREAD, thread, .id = 1, .tid = 501);
	GIVE(w, SAMPLE, sample, .event = 1, .thread = 1, .time_ns = 7 * S);
	GIVE(w, SAMPLE, sample, .event = 2, .thread = 1, .time_ns = 8 * S);
	GIVE(w, SAMPLE, sample, .event = 3, .thread = 1, .time_ns = 9 * S);
	assert_string_equal(w->log, "1 at 9: thread 501\n");
	row_watch_begin_segment(&w->w);
	GIVE(w, SAMPLE, sample, .event = 3, .thread = 1, .time_ns = 10 * S);
	assert_string_equal(w->log, "1 at 9: thread 501\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_thread_is_told_of_once_for_each_sleep, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_sleep_goes_on_in_the_next_segment, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_thread_that_ended_is_forgotten, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_only_rows_count, setup, teardown),
		cmocka_unit_test_setup_teardown(test_probes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
