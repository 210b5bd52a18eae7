/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users whose files never answer, and the others. Time is a number here: nothing waits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/foreign/wait_budget.h"

#define SEC NSEC_PER_SEC
#define MSEC NSEC_PER_MSEC
#define LIMIT SEC
#define NO_PID 0x3fffffff

static uint64_t now;			/* of this test */
static struct wait_budget *b;

static int setup(void **state)
{
	(void)state;
	now = 5000 * SEC;
	b = wait_budget_new_with("alice:100000:65536\n1001:165536:65536\nbad line\nbob:1:x\n:::\n");
	return b ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	wait_budget_free(b);
	return 0;
}

/* Asks something that takes this long, or as long as may be waited; the time that was waited. */
static uint64_t question(uid_t user, uint64_t takes)
{
	uint64_t limit = wait_budget_ask(b, user, now, LIMIT);
	uint64_t took = takes < limit ? takes : limit;

	now += took;
	if (limit)
		(takes > limit ? wait_budget_hung : wait_budget_pay)(b, user, now, took);
	return took;
}

#define HANGS (1000 * SEC)

/* Time lost while users first, first + 1, ... ask for ns what never answers, one after the other. */
static uint64_t lost_within(uid_t first, unsigned users, uint64_t ns)
{
	uint64_t until = now + ns, lost = 0;

	for (uid_t i = 0; now < until; i = (i + 1) % users) {
		lost += question(first + i, HANGS);
		now += MSEC;
	}
	return lost;
}

static void test_one_user_blinds_only_himself(void **state)
{
	(void)state;
	assert_int_equal(question(1000, HANGS), LIMIT);
	assert_int_equal(question(1000, HANGS), 0);
	assert_int_equal(wait_budget_ask(b, 1001, now, LIMIT), LIMIT);
	assert_int_equal(wait_budget_ask(b, 0, now, LIMIT), LIMIT);
	assert_int_equal(wait_budget_ask(b, WAIT_BUDGET_NOBODY, now, LIMIT), LIMIT);
}

/* Each pause is twice as long as the last one, and is forgotten when he behaves. */
static void test_pauses(void **state)
{
	(void)state;
	while (question(1000, HANGS))
		;
	now += 9 * SEC;
	assert_int_equal(wait_budget_ask(b, 1000, now, LIMIT), 0);
	now += 2 * SEC;
	assert_int_equal(question(1000, HANGS), LIMIT);
	now += 19 * SEC;
	assert_int_equal(wait_budget_ask(b, 1000, now, LIMIT), 0);
	now += 2 * SEC;
	assert_int_equal(question(1000, MSEC), MSEC);
	now += 20 * SEC;
	assert_int_equal(question(1000, HANGS), LIMIT);
	assert_int_equal(question(1000, HANGS), 0);
	now += 11 * SEC;
	assert_int_equal(wait_budget_ask(b, 1000, now, LIMIT), LIMIT);
}

static void test_time_that_one_user_costs(void **state)
{
	(void)state;
	assert_true(lost_within(1000, 1, 10 * SEC) <= SEC);
	assert_true(lost_within(1000, 1, 600 * SEC) <= 6 * SEC);
}

/* Answers that come late, but in time, cost half as much as those that never come. */
static void test_slow_answers(void **state)
{
	uint64_t until = now + 10 * SEC, lost = 0;

	(void)state;
	while (now < until) {
		lost += question(1000, 50 * MSEC);
		now += MSEC;
	}
	assert_in_range(lost, 4 * SEC, 6 * SEC);
}

static void test_quick_answers_are_free(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_int_equal(question(1000, 2 * MSEC), 2 * MSEC);
}

static void test_many_users(void **state)
{
	uint64_t lost;

	(void)state;
	lost = lost_within(1000, 1000, 60 * SEC);
	assert_true(lost <= 15 * SEC);
	lost = lost_within(1000, 1000, 600 * SEC);
	assert_true(lost <= 12 * SEC);
	/* Root is asked as always, and everybody else when it is over. */
	assert_int_equal(wait_budget_ask(b, 0, now, LIMIT), LIMIT);
	now += 1300 * SEC;
	assert_int_equal(wait_budget_ask(b, 5000, now, LIMIT), LIMIT);
}

/* A file of root's that hangs: the recorder goes on, and the files of others are asked for. */
static void test_root_has_a_budget_too(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(question(0, HANGS), LIMIT);
	assert_int_equal(question(0, HANGS), 0);
	assert_int_equal(wait_budget_ask(b, 1000, now, LIMIT), LIMIT);
}

/* ---- who pays ---- */

static void test_ranges(void **state)
{
	(void)state;
	assert_int_equal(wait_budget_user_was(b, 1000, 1000), 1000);
	assert_int_equal(wait_budget_user_was(b, 100000, 100000), 100000);
	assert_int_equal(wait_budget_user_was(b, 165535, 165535), 100000);
	assert_int_equal(wait_budget_user_was(b, 165536, 165536), 165536);
	assert_int_equal(wait_budget_user_was(b, 231071, 0), 165536);
	assert_int_equal(wait_budget_user_was(b, 231072, 231072), 231072);
	assert_int_equal(wait_budget_user_was(b, 1, 1), 1);
}

static void test_real_and_effective_users(void **state)
{
	(void)state;
	assert_int_equal(wait_budget_user_was(b, 1000, 0), 1000);
	assert_int_equal(wait_budget_user_was(b, 0, 1000), 1000);
	assert_int_equal(wait_budget_user_was(b, 0, 0), 0);
	assert_int_equal(wait_budget_user_was(b, 1000, 1001), 1000);
}

static void test_processes(void **state)
{
	uid_t own = getuid();

	(void)state;
	assert_int_equal(wait_budget_user(b, getpid(), WAIT_BUDGET_NOBODY), own);
	assert_int_equal(wait_budget_user(b, getpid(), 4711), own ? own : 4711);
	assert_int_equal(wait_budget_user(b, NO_PID, WAIT_BUDGET_NOBODY), WAIT_BUDGET_NOBODY);
	assert_int_equal(wait_budget_user(b, NO_PID, 4711), 4711);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_one_user_blinds_only_himself),
		T(test_pauses),
		T(test_time_that_one_user_costs),
		T(test_slow_answers),
		T(test_quick_answers_are_free),
		T(test_many_users),
		T(test_root_has_a_budget_too),
		T(test_ranges),
		T(test_real_and_effective_users),
		T(test_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
