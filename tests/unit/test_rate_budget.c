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
static struct rate_costs costs;

/* A recorder that costs so much at the full rate, and as much less at a lower one. */
static enum rate_change window(double full_cost)
{
	now += WINDOW;
	cpu += (uint64_t)(full_cost / b.times * WINDOW);
	costs.cpu_ns = cpu;
	return rate_budget_window(&b, now, &costs);
}

static void begin(double budget)
{
	now = 1000 * NSEC_PER_SEC;
	cpu = 5 * NSEC_PER_SEC;
	costs = (struct rate_costs){ .cpu_ns = cpu, .root = RATE_USERS };
	rate_budget_init(&b, budget);
	rate_budget_started(&b);
	rate_budget_window(&b, now, &costs);
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
	costs.cpu_ns = cpu;
	assert_int_equal(rate_budget_window(&b, now, &costs), RATE_STAYS);
	assert_true(b.cost < 0.01);
}

/* ---- users ---- */

/* What a user costs at the full rate, and what he costs whatever his rate is. */
struct load {
	double by_rate, always;
};

/* A window in which users have these costs, and nobody in particular costs base. */
static enum rate_change users_window(double base, const struct load *users, size_t nr)
{
	double all = base;

	now += WINDOW;
	costs.nr_users = nr;
	for (size_t i = 0; i < nr; i++) {
		double cost = users[i].by_rate / b.times / b.users[i].times + users[i].always;

		costs.user_ns[i] += (uint64_t)(cost * WINDOW);
		all += cost;
	}
	cpu += (uint64_t)(all * WINDOW);
	costs.cpu_ns = cpu;
	return rate_budget_window(&b, now, &costs);
}

static void test_who_costs_most_is_lowered_alone(void **state)
{
	const struct load users[] = { { 0 }, { 0.0015, 0 }, { 0.06, 0 } };

	(void)state;
	begin(0.01);
	for (int i = 0; i < 40; i++)
		if (users_window(0.003, users, 3) == RATE_LOWER)
			assert_int_equal(b.changed, 2);
	assert_int_equal(b.times, 1);
	assert_int_equal(b.users[1].times, 1);
	assert_int_equal(b.users[2].times, 16);
	assert_true(b.cost <= 0.01);
}

static void test_he_gets_his_rate_back(void **state)
{
	const struct load heavy[] = { { 0 }, { 0.0015, 0 }, { 0.06, 0 } };
	const struct load gone[] = { { 0 }, { 0.0015, 0 }, { 0, 0 } };
	int risen = 0;

	(void)state;
	begin(0.01);
	for (int i = 0; i < 40; i++)
		users_window(0.003, heavy, 3);
	for (int i = 0; i < 40; i++)
		risen += users_window(0.003, gone, 3) == RATE_RISE;
	assert_int_equal(risen, 4);
	assert_int_equal(b.users[2].times, 1);
}

/* One user alone is everybody, and of two who cost the same neither is to blame. */
static void test_all_are_lowered(void **state)
{
	const struct load one[] = { { 0 }, { 0.03, 0 } };
	const struct load three[] = { { 0.01, 0 }, { 0.01, 0 }, { 0.01, 0 } };

	(void)state;
	begin(0.01);
	for (int i = 0; i < 20; i++)
		users_window(0.001, one, 2);
	assert_int_equal(b.times, 4);
	assert_int_equal(b.users[1].times, 1);
	begin(0.01);
	for (int i = 0; i < 20; i++)
		users_window(0.001, three, 3);
	assert_int_equal(b.times, 4);
}

/* Root is the machine: what does not fit at his lowest rate is sought at the rate of all. */
static void test_root_in_vain(void **state)
{
	const struct load users[] = { { 0 }, { 0.0001, 0 }, { 0.002, 0.02 } };

	(void)state;
	begin(0.01);
	costs.root = 2;
	for (int i = 0; i < 40; i++)
		users_window(0.02, users, 3);
	assert_int_equal(b.users[2].times, 4);
	assert_int_equal(b.times, RATE_MOST_TIMES);
}

/* His threads start and end, and that is told at any rate: he keeps most of his stacks. */
static void test_in_vain(void **state)
{
	const struct load users[] = { { 0 }, { 0.001, 0 }, { 0.0001, 0.05 } };
	int said = 0;

	(void)state;
	begin(0.01);
	for (int i = 0; i < 60; i++)
		said += users_window(0.003, users, 3) == RATE_AT_LOWEST;
	assert_int_equal(said, 1);
	assert_int_equal(b.changed, 2);
	assert_int_equal(b.users[2].times, 4);
	assert_int_equal(b.users[1].times, 1);
	assert_int_equal(b.times, 1);
}

/* He cannot be helped, but the others are too much even without him. */
static void test_in_vain_and_the_others_are_too_much(void **state)
{
	const struct load users[] = { { 0.004, 0 }, { 0.02, 0 }, { 0.0001, 0.05 } };

	(void)state;
	begin(0.01);
	for (int i = 0; i < 60; i++)
		users_window(0.001, users, 3);
	assert_int_equal(b.users[2].times, 4);
	assert_int_equal(b.times, 4);
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
		cmocka_unit_test(test_who_costs_most_is_lowered_alone),
		cmocka_unit_test(test_he_gets_his_rate_back),
		cmocka_unit_test(test_all_are_lowered),
		cmocka_unit_test(test_root_in_vain),
		cmocka_unit_test(test_in_vain),
		cmocka_unit_test(test_in_vain_and_the_others_are_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
