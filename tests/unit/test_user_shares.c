/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/foreign/user_shares.h"

enum { ROOT = 0, ANN = 1000, BOB = 1001 };

#define FDS 20000
#define NOW (1000 * NSEC_PER_SEC)

static int setup(void **state)
{
	*state = user_shares_new(FDS);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	user_shares_free(*state);
	return 0;
}

/* How many files of user may be opened at that time, if he asks for very many. */
static unsigned opened(struct user_shares *s, uid_t user, bool is_met, uint64_t now)
{
	unsigned nr = 0;

	while (nr < 100000 && user_shares_open(s, user, is_met, now))
		nr++;
	return nr;
}

static void test_half_is_for_stacks(void **state)
{
	assert_int_equal(opened(*state, ANN, false, NOW), 1024);
	assert_int_equal(opened(*state, ANN, true, NOW), 1024);
	assert_int_equal(opened(*state, ANN, true, NOW), 0);
	/* Nobody else has less for that. */
	assert_int_equal(opened(*state, BOB, false, NOW), 1024);
	assert_int_equal(opened(*state, ROOT, false, NOW), 16384);
}

static void test_tokens_come_back(void **state)
{
	assert_int_equal(opened(*state, ANN, true, NOW), 2048);
	assert_int_equal(opened(*state, ANN, true, NOW + NSEC_PER_SEC), 512);
	/* Time is not lost by asking often. */
	for (uint64_t ms = 0; ms < 1000; ms++)
		assert_true(opened(*state, BOB, true, NOW + ms * NSEC_PER_MSEC) <= 2048);
	assert_int_equal(opened(*state, ANN, true, NOW + 1000 * NSEC_PER_SEC), 2048);
}

static void test_held(void **state)
{
	unsigned nr;
	size_t most;

	for (nr = 0; !user_shares_is_full(*state, ANN); nr++)
		user_shares_hold(*state, ANN, 1);
	assert_int_equal(nr, FDS / 8);
	assert_false(user_shares_is_full(*state, BOB));
	user_shares_hold(*state, BOB, 1);
	assert_int_equal(user_shares_heaviest(*state, &most), ANN);
	assert_int_equal(most, nr);
	user_shares_hold(*state, ANN, -1);
	assert_false(user_shares_is_full(*state, ANN));
	/* Root may hold more before it is the one who gives up some. */
	for (nr = 0; nr < FDS / 4; nr++)
		user_shares_hold(*state, ROOT, 1);
	assert_int_equal(user_shares_heaviest(*state, &most), ANN);
	assert_false(user_shares_is_full(*state, ROOT));
}

static void test_very_many_users(void **state)
{
	unsigned nr = 0;

	for (uid_t user = 1; user <= 1000; user++)
		nr += opened(*state, user, false, NOW) > 0;
	assert_int_equal(nr, 64);		/* the others share what the last one left */
	assert_true(user_shares_open(*state, 500, false, NOW + 10 * NSEC_PER_SEC));
	for (uid_t user = 1; user <= 1000; user++) {
		user_shares_hold(*state, user, 1);
		user_shares_hold(*state, user, -1);
		user_shares_hold(*state, user, -1);
		assert_false(user_shares_is_full(*state, user));
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_half_is_for_stacks), T(test_tokens_come_back), T(test_held),
		T(test_very_many_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
