/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/capture/processes/table_turns.h"

enum { ROOT = 0, ANN = 1000, BOB = 1001 };

static int setup(void **state)
{
	*state = table_turns_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	table_turns_free(*state);
	return 0;
}

static void add(struct table_turns *q, uint32_t binary, int priority, uint32_t owner)
{
	const struct table_turn turn = { binary, priority, owner };

	assert_int_equal(table_turns_add(q, &turn), 0);
}

/* Begins the next one. Its binary; 0: nobody may have one more. *begun: for table_turns_over(). */
static uint32_t begin(struct table_turns *q, unsigned *begun)
{
	struct table_turn turn;

	if (!table_turns_next(q, &turn))
		return 0;
	*begun = table_turns_begin(q, turn.owner);
	return turn.binary;
}

static void test_few(void **state)
{
	unsigned begun;

	assert_false(table_turns_have_few(*state));
	for (uint32_t i = 1; i <= 600; i++)
		add(*state, i, 0, ANN);
	assert_false(table_turns_have_few(*state));
	add(*state, 1000, -1, BOB);
	assert_true(table_turns_have_few(*state));
	assert_int_equal(begin(*state, &begun), 1000);
	assert_true(table_turns_have_few(*state));
	table_turns_over(*state, begun, 3 * NSEC_PER_SEC, now_ns());
	assert_false(table_turns_have_few(*state));
	/* His tables have cost much. */
	add(*state, 1001, -1, BOB);
	assert_false(table_turns_have_few(*state));
	add(*state, 1002, 0, ROOT);
	assert_true(table_turns_have_few(*state));
}

static void test_in_order(void **state)
{
	unsigned begun;

	add(*state, 1, 5, ROOT);
	add(*state, 2, -5, ROOT);
	add(*state, 3, 5, ANN);
	add(*state, 4, 7, ROOT);
	table_turns_hurry(*state, 4, -9);
	assert_int_equal(begin(*state, &begun), 4);
	assert_int_equal(begin(*state, &begun), 2);
	assert_int_equal(begin(*state, &begun), 1);
	assert_int_equal(begin(*state, &begun), 3);
	assert_int_equal(begin(*state, &begun), 0);
}

/* Who has thousands of files has a few of them built at a time; others do not wait for him. */
static void test_many_of_one_owner(void **state)
{
	unsigned begun[16], of_bob;
	unsigned nr = 0;

	for (uint32_t i = 1; i <= 1000; i++)
		add(*state, i, 0, ANN);
	while (nr < 16 && begin(*state, &begun[nr]))
		nr++;
	assert_int_equal(nr, 8);
	add(*state, 2001, 0, BOB);
	add(*state, 2002, 0, ROOT);
	assert_int_equal(begin(*state, &of_bob), 2001);
	assert_int_equal(begin(*state, &of_bob), 2002);
	table_turns_over(*state, begun[0], 1, 1);
	assert_int_equal(begin(*state, &begun[0]), 9);
	assert_int_equal(begin(*state, &begun[0]), 0);
}

/* Tables that take long take one worker at most, until time has passed. */
static void test_costly_ones(void **state)
{
	unsigned first, second;

	for (uint32_t i = 1; i <= 9; i++)
		add(*state, i, 0, ANN);
	assert_int_equal(begin(*state, &first), 1);
	table_turns_over(*state, first, 10 * NSEC_PER_SEC, 10 * NSEC_PER_SEC);
	assert_int_equal(begin(*state, &first), 2);
	assert_int_equal(begin(*state, &second), 0);
	/* A tenth of the time that passes is paid back. */
	table_turns_over(*state, first, 0, 100 * NSEC_PER_SEC);
	assert_int_equal(begin(*state, &first), 3);
	assert_int_equal(begin(*state, &second), 4);
}

/* Owners beyond the number that is told apart share a place, and none of them is stuck. */
static void test_very_many_owners(void **state)
{
	unsigned begun[200], nr = 0;

	for (uint32_t i = 0; i < 200; i++)
		add(*state, i + 1, 0, 5000 + i);
	while (nr < 200 && begin(*state, &begun[nr]))
		nr++;
	assert_true(nr >= 64 && nr < 200);
	for (unsigned i = 0; i < nr; i++)
		table_turns_over(*state, begun[i], 0, 1);
	for (unsigned done = nr; done < 200; done++) {
		assert_int_not_equal(begin(*state, &begun[0]), 0);
		table_turns_over(*state, begun[0], 0, 1);
	}
	assert_int_equal(begin(*state, &begun[0]), 0);
}

static void test_dropped(void **state)
{
	struct table_turn turn;

	add(*state, 1, 0, ANN);
	add(*state, 2, 0, BOB);
	assert_true(table_turns_drop(*state, &turn));
	assert_true(table_turns_drop(*state, &turn));
	assert_false(table_turns_drop(*state, &turn));
	assert_false(table_turns_next(*state, &turn));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_few), T(test_in_order), T(test_many_of_one_owner), T(test_costly_ones),
		T(test_very_many_owners), T(test_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
