/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/report/loss_list.h"

#define SECOND 1000000000ull

static void lose(struct loss_list *l, uint32_t segment, uint64_t time_ns, uint8_t cause, uint64_t count)
{
	const struct record rec = { .tag = REC_LOST, .lost = { time_ns, 0, cause, 0, count } };

	assert_int_equal(loss_list_record(l, segment, &rec), 0);
}

static void losses_of_a_second_are_one(void **state)
{
	struct loss_list l = { 0 };

	(void)state;
	lose(&l, 0, 5 * SECOND, LOSS_RING_FULL, 3);
	lose(&l, 0, 5 * SECOND + 1, LOSS_THROTTLED, 10);
	lose(&l, 0, 5 * SECOND + 2, LOSS_RING_FULL, 4);
	lose(&l, 0, 6 * SECOND, LOSS_RING_FULL, 5);
	lose(&l, 1, 6 * SECOND, LOSS_RING_FULL, 6);
	lose(&l, 1, 6 * SECOND, 200, 7);
	lose(&l, 1, 6 * SECOND, LOSS_RING_FULL, 0);
	assert_int_equal(l.nr, 5);
	assert_int_equal(l.v[0].count, 7);
	assert_int_equal(l.v[0].time_ns, 5 * SECOND);
	assert_int_equal(l.v[1].count, 10);
	assert_int_equal(l.v[2].count, 5);
	assert_int_equal(l.v[3].segment, 1);
	assert_int_equal(l.v[4].cause, LOSS_CAUSES);
	loss_list_release(&l);
}

static void scans_lose_rows(void **state)
{
	const struct rec_scan scan = { .time_ns = 7, .tasks_seen = 100, .rows = 60, .skipped_idle_kthreads = 20,
				       .filtered = 15 };
	struct record rec = { .tag = REC_SCAN, .scan = scan };
	struct loss_list l = { 0 };

	(void)state;
	assert_int_equal(loss_list_record(&l, 0, &rec), 0);
	rec.scan.filtered = 20;
	assert_int_equal(loss_list_record(&l, 0, &rec), 0);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.v[0].cause, LOSS_ROWS);
	assert_int_equal(l.v[0].count, 5);
	loss_list_release(&l);
}

/* However many, and however spread over time: the memory is bounded, the sum exact. */
static void memory_is_bounded(void **state)
{
	struct loss_list l = { 0 };
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 200000; i++)
		lose(&l, 0, i * SECOND, (uint8_t)(i % LOSS_CAUSES), i + 1);
	assert_true(l.nr <= (1u << 16) + LOSS_CAUSES);
	for (size_t i = 0; i < l.nr; i++)
		sum += l.v[i].count;
	assert_int_equal(sum, 200000ull * 200001 / 2);
	loss_list_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_of_a_second_are_one),
		cmocka_unit_test(scans_lose_rows),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
