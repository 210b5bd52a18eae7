/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates that go down when the agent costs too much, and up again. Time is a number here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/agent/rate_budget.h"
#include "src/base/clock.h"

#define WINDOW (15 * NSEC_PER_SEC)

static struct rate_budget b;
static uint64_t now, cpu;

/* A recorder that costs so much at the full rate, and as much less at a lower one. */
static enum rate_change window(double full_cost)
{
	now += WINDOW;
	cpu += (uint64_t)(full_cost / b.times * WINDOW);
	return rate_budget_window(&b, now, cpu);
}

static void begin(double budget)
{
	now = 1000 * NSEC_PER_SEC;
	cpu = 5 * NSEC_PER_SEC;
	rate_budget_init(&b, budget);
	rate_budget_started(&b);
	rate_budget_window(&b, now, cpu);
}

static void test_a_start_is_no_reason(void **state)
{
	(void)state;
	begin(0.01);
	for (int i = 1; i < RATE_SETTLE_WINDOWS; i++)
		assert_int_equal(window(0.5), RATE_STAYS);
	assert_int_equal(b.times, 1);
	assert_true(b.cost > 0.49 && b.cost < 0.51);
	assert_int_equal(window(0.5), RATE_LOWER);
	assert_int_equal(b.times, 2);
}

static void test_down_until_it_fits(void **state)
{
	int lowered = 0;

	(void)state;
	begin(0.01);
	for (int i = 0; i < 40; i++)
		lowered += window(0.035) == RATE_LOWER;
	assert_int_equal(lowered, 2);
	assert_int_equal(b.times, 4);
}

/* The window in which the rate changed is not judged: a part of it was at the old one. */
static void test_one_step_at_a_time(void **state)
{
	(void)state;
	begin(0.01);
	for (int i = 1; i < RATE_SETTLE_WINDOWS; i++)
		window(0.1);
	assert_int_equal(window(0.1), RATE_LOWER);
	assert_int_equal(window(0.1), RATE_STAYS);
	assert_int_equal(window(0.1), RATE_LOWER);
}

static void test_up_again_when_there_is_room(void **state)
{
	int risen = 0, windows = 0;

	(void)state;
	begin(0.01);
	for (int i = 0; i < 20; i++)
		window(0.035);
	assert_int_equal(b.times, 4);
	for (; b.times > 1 && windows < 100; windows++)
		risen += window(0.005) == RATE_RISE;
	assert_int_equal(risen, 2);
	assert_true(windows >= 8);
	/* It stays there, and does not go up and down where the full rate costs too much. */
	for (int i = 0; i < 40; i++)
		assert_int_equal(window(0.005), RATE_STAYS);
}

static void test_no_swinging(void **state)
{
	int changes = 0;

	(void)state;
	begin(0.01);
	for (int i = 0; i < 200; i++)
		changes += window(0.011) != RATE_STAYS;
	assert_int_equal(changes, 1);
}

static void test_the_lowest_is_said_once(void **state)
{
	int said = 0;

	(void)state;
	begin(0.001);
	for (int i = 0; i < 100; i++)
		said += window(10) == RATE_AT_LOWEST;
	assert_int_equal(b.times, RATE_MOST_TIMES);
	assert_int_equal(said, 1);
}

static void test_without_a_budget(void **state)
{
	(void)state;
	begin(0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(window(10), RATE_STAYS);
	assert_true(b.times == 1 && b.cost > 9);
}

/* A child's time may be missing for a moment while it is waited for. */
static void test_time_that_goes_back(void **state)
{
	(void)state;
	begin(0.01);
	for (int i = 0; i < 10; i++)
		window(0.001);
	cpu -= 1000000;
	now += WINDOW;
	assert_int_equal(rate_budget_window(&b, now, cpu), RATE_STAYS);
	assert_true(b.cost < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_start_is_no_reason),
		cmocka_unit_test(test_down_until_it_fits),
		cmocka_unit_test(test_one_step_at_a_time),
		cmocka_unit_test(test_up_again_when_there_is_room),
		cmocka_unit_test(test_no_swinging),
		cmocka_unit_test(test_the_lowest_is_said_once),
		cmocka_unit_test(test_without_a_budget),
		cmocka_unit_test(test_time_that_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
