/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/capture/losses.h"

struct log {
	struct rec_lost v[8];
	int nr, err;
};

static int sink(void *ctx, const struct record *rec)
{
	struct log *log = ctx;

	assert_int_equal(rec->tag, REC_LOST);
	assert_true(log->nr < 8);
	log->v[log->nr++] = rec->lost;
	return log->err;
}

static void test_only_what_was_added(void **state)
{
	struct log log = { 0 };
	struct losses l;

	(void)state;
	losses_init(&l, 100);
	assert_int_equal(losses_report(&l, LOSS_QUEUE_FULL, 0, 200, sink, &log), 0);
	assert_int_equal(log.nr, 0);
	assert_int_equal(losses_report(&l, LOSS_QUEUE_FULL, 7, 300, sink, &log), 0);
	assert_int_equal(losses_report(&l, LOSS_QUEUE_FULL, 7, 400, sink, &log), 0);
	assert_int_equal(losses_report(&l, LOSS_QUEUE_FULL, 10, 500, sink, &log), 0);
	assert_int_equal(log.nr, 2);
	assert_int_equal(log.v[0].count, 7);
	assert_int_equal(log.v[1].count, 3);
	assert_int_equal(losses_samples(&l), 10);
}

/* The loss lies between this look and the one before, not since the last loss. */
static void test_when(void **state)
{
	struct log log = { 0 };
	struct losses l;

	(void)state;
	losses_init(&l, 100);
	losses_report(&l, LOSS_MAP_FULL, 0, 200, sink, &log);
	losses_report(&l, LOSS_MAP_FULL, 1, 300, sink, &log);
	losses_report(&l, LOSS_MAP_FULL, 2, 350, sink, &log);
	assert_int_equal(log.v[0].time_ns, 200);
	assert_int_equal(log.v[0].duration_ns, 100);
	assert_int_equal(log.v[0].cause, LOSS_MAP_FULL);
	assert_int_equal(log.v[0].cpu, UINT32_MAX);
	assert_int_equal(log.v[1].time_ns, 300);
	assert_int_equal(log.v[1].duration_ns, 50);
}

static void test_causes_are_apart(void **state)
{
	struct log log = { 0 };
	struct losses l;

	(void)state;
	losses_init(&l, 0);
	losses_report(&l, LOSS_RING_FULL, 5, 10, sink, &log);
	losses_report(&l, LOSS_THROTTLED, 5, 20, sink, &log);
	losses_report(&l, LOSS_KERNEL_STACK, 1, 30, sink, &log);
	assert_int_equal(log.nr, 3);
	assert_int_equal(log.v[1].cause, LOSS_THROTTLED);
	assert_int_equal(log.v[1].count, 5);
	assert_int_equal(log.v[1].time_ns, 0);
	assert_int_equal(log.v[2].cause, LOSS_KERNEL_STACK);
	assert_int_equal(losses_samples(&l), 10);	/* kernel-stack costs no sample */
}

/* What costs no sample is counted, but apart. */
static void test_other_losses(void **state)
{
	struct log log = { 0 };
	struct losses l;
	char text[256];

	(void)state;
	losses_init(&l, 0);
	losses_report(&l, LOSS_RING_FULL, 3, 10, sink, &log);
	assert_false(losses_others(&l, text, sizeof(text)));
	losses_report(&l, LOSS_TASK_EVENTS, 34, 20, sink, &log);
	losses_report(&l, LOSS_TABLE_FULL, 2, 20, sink, &log);
	assert_true(losses_others(&l, text, sizeof(text)));
	assert_string_equal(text, "34 starts and ends of processes were not heard of; "
				  "2 entries found their table full");
	assert_int_equal(losses_samples(&l), 3);
}

/* Counters of several CPUs are not read at one moment. A sum that goes back is no loss of 2^64. */
static void test_total_that_goes_back(void **state)
{
	struct log log = { 0 };
	struct losses l;

	(void)state;
	losses_init(&l, 0);
	losses_report(&l, LOSS_RING_FULL, 5, 10, sink, &log);
	losses_report(&l, LOSS_RING_FULL, 4, 20, sink, &log);
	assert_int_equal(log.nr, 1);
	losses_report(&l, LOSS_RING_FULL, 6, 30, sink, &log);
	assert_int_equal(log.nr, 2);
	assert_int_equal(log.v[1].count, 1);
	assert_int_equal(losses_samples(&l), 6);
}

/* Samples that are missing are one thing; the rest is told by name. */
static void test_samples_and_others(void **state)
{
	struct log log = { 0 };
	char text[256], small[10];
	struct losses l;

	(void)state;
	losses_init(&l, 0);
	assert_int_equal(losses_samples(&l), 0);
	assert_false(losses_others(&l, text, sizeof(text)));
	assert_string_equal(text, "");
	losses_report(&l, LOSS_RING_FULL, 5, 10, sink, &log);
	assert_false(losses_others(&l, text, sizeof(text)));
	losses_report(&l, LOSS_THROTTLED, 2, 10, sink, &log);
	losses_report(&l, LOSS_TASK_EVENTS, 34, 10, sink, &log);
	losses_report(&l, LOSS_TABLE_FULL, 2, 10, sink, &log);
	assert_int_equal(losses_samples(&l), 7);
	assert_true(losses_others(&l, text, sizeof(text)));
	assert_string_equal(text, "34 starts and ends of processes were not heard of; "
				  "2 entries found their table full");
	assert_true(losses_others(&l, small, sizeof(small)));
	assert_string_equal(small, "34 starts");
}

static void test_error_of_the_sink(void **state)
{
	struct log log = { .err = -ENOSPC };
	struct losses l;

	(void)state;
	losses_init(&l, 0);
	assert_int_equal(losses_report(&l, LOSS_RING_FULL, 5, 10, sink, &log), -ENOSPC);
}

static void the_sum_of_all_is_what_was_written(void **state)
{
	struct log log = { 0 };
	struct losses l;

	(void)state;
	losses_init(&l, 0);
	losses_report(&l, LOSS_RING_FULL, 5, 10, sink, &log);
	losses_report(&l, LOSS_TASK_EVENTS, 34, 10, sink, &log);
	losses_report(&l, LOSS_TASK_EVENTS, 40, 20, sink, &log);
	assert_int_equal(losses_samples(&l), 5);
	assert_int_equal(losses_all(&l), 45);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_of_all_is_what_was_written),
		cmocka_unit_test(test_only_what_was_added), cmocka_unit_test(test_when),
		cmocka_unit_test(test_causes_are_apart), cmocka_unit_test(test_other_losses),
		cmocka_unit_test(test_total_that_goes_back),
		cmocka_unit_test(test_samples_and_others), cmocka_unit_test(test_error_of_the_sink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
