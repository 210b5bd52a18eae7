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
	assert_int_equal(losses_report(&l, LOSS_RING_FULL, 0, 200, sink, &log), 0);
	assert_int_equal(log.nr, 0);
	assert_int_equal(losses_report(&l, LOSS_RING_FULL, 7, 300, sink, &log), 0);
	assert_int_equal(losses_report(&l, LOSS_RING_FULL, 7, 400, sink, &log), 0);
	assert_int_equal(losses_report(&l, LOSS_RING_FULL, 10, 500, sink, &log), 0);
	assert_int_equal(log.nr, 2);
	assert_int_equal(log.v[0].count, 7);
	assert_int_equal(log.v[1].count, 3);
	assert_int_equal(l.total, 10);
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
	losses_report(&l, LOSS_CAUSES - 1, 1, 30, sink, &log);
	assert_int_equal(log.nr, 3);
	assert_int_equal(log.v[1].cause, LOSS_THROTTLED);
	assert_int_equal(log.v[1].count, 5);
	assert_int_equal(log.v[1].time_ns, 0);
	assert_int_equal(log.v[2].cause, LOSS_CAUSES - 1);
	assert_int_equal(l.total, 11);
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
	assert_int_equal(l.total, 6);
}

static void test_error_of_the_sink(void **state)
{
	struct log log = { .err = -ENOSPC };
	struct losses l;

	(void)state;
	losses_init(&l, 0);
	assert_int_equal(losses_report(&l, LOSS_RING_FULL, 5, 10, sink, &log), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_was_added), cmocka_unit_test(test_when),
		cmocka_unit_test(test_causes_are_apart), cmocka_unit_test(test_total_that_goes_back),
		cmocka_unit_test(test_error_of_the_sink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
