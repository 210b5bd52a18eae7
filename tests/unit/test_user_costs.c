/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each user's processes cost, as it is measured and shared with an agent. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/capture/tables/user_costs.h"
#include "src/model/process.h"

struct world {
	struct shared_rates rates;
	struct processes processes;
	struct user_costs *costs;
	int asked;			/* how often a process was looked up */
};

/* Process 1000 * u + n is of user u; those from 9,000,000 on are gone. */
static int users_of(void *ctx, uint32_t tgid, struct process_users *out)
{
	((struct world *)ctx)->asked++;
	if (tgid >= 9000000)
		return -ESRCH;
	out->number = out->user = tgid / 1000;
	return 0;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct user_costs_deps deps;

	assert_non_null(w);
	processes_init(&w->processes);
	deps = (struct user_costs_deps){ &w->rates, &w->processes, users_of, w };
	assert_int_equal(user_costs_new(&deps, &w->costs), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	user_costs_free(w->costs);
	processes_release(&w->processes);
	free(w);
	return 0;
}

static uint64_t cost_of(const struct world *w, uint32_t user)
{
	for (uint32_t i = 0; i < w->rates.nr_users; i++)
		if (w->rates.users[i].user == user)
			return w->rates.users[i].cost_ns;
	return 0;
}

static void work(uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* Pieces are measured by chance, and their sum is what this thread has computed. */
static void test_the_sum_is_what_was_computed(void **state)
{
	struct world *w = *state;
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), all;
	double light, heavy;

	for (int i = 0; i < 4000; i++) {
		struct cost_piece piece = user_costs_begin(w->costs, i % 4 ? 1001 : 2001);

		work(i % 4 ? 20000 : 4000);
		user_costs_end(w->costs, piece);
	}
	all = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	heavy = (double)cost_of(w, 1);
	light = (double)cost_of(w, 2);
	assert_true(heavy + light < 1.2 * (double)all);
	assert_true(heavy + light > 0.7 * (double)all);
	assert_true(heavy > 8 * light && heavy < 25 * light);
}

/* A process that is known is looked up once. */
static void test_lookups(void **state)
{
	struct world *w = *state;

	assert_non_null(processes_add(&w->processes, 3001, 0));
	for (int i = 0; i < 400; i++)
		user_costs_end(w->costs, user_costs_begin(w->costs, 3001));
	assert_int_equal(w->asked, 1);
}

static void test_a_piece_within_another(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 400; i++) {
		struct cost_piece outer = user_costs_begin(w->costs, 1001), inner;

		inner = user_costs_begin(w->costs, 2001);
		assert_false(outer.begin_ns && inner.begin_ns);
		user_costs_end(w->costs, inner);
		user_costs_end(w->costs, outer);
	}
}

static void test_what_others_say(void **state)
{
	struct world *w = *state;

	user_costs_add(w->costs, 7, 5000);
	user_costs_add(w->costs, 7, 6000);
	user_costs_add(w->costs, 0, 1);
	assert_int_equal(cost_of(w, 7), 11000);
	assert_int_equal(cost_of(w, 0), 1);
	user_costs_add(NULL, 7, 1);
}

/* 100 users: 31 have places, and the others one together. */
static void test_more_users_than_places(void **state)
{
	struct world *w = *state;
	uint64_t sum = 0;

	for (uint32_t user = 0; user < 100; user++)
		user_costs_add(w->costs, user, 10);
	assert_int_equal(w->rates.nr_users, RATE_USERS);
	for (uint32_t i = 0; i < RATE_USERS; i++)
		sum += w->rates.users[i].cost_ns;
	assert_int_equal(sum, 1000);
	assert_int_equal(cost_of(w, RATE_OTHER_USERS), (100 - RATE_USERS + 1) * 10);
	assert_int_equal(cost_of(w, 30), 10);
}

static void test_divide(void **state)
{
	struct world *w = *state;
	uint64_t one, two;

	for (int i = 0; i < 4000; i++)
		user_costs_end(w->costs, user_costs_begin(w->costs, i % 4 ? 1001 : 2001));
	one = cost_of(w, 1);
	two = cost_of(w, 2);
	user_costs_divide(w->costs, NSEC_PER_SEC);
	one = cost_of(w, 1) - one;
	two = cost_of(w, 2) - two;
	assert_in_range(one + two, NSEC_PER_SEC - 2, NSEC_PER_SEC);
	/* A quarter of 1,000 pieces, and six standard deviations to each side. */
	assert_in_range(two, NSEC_PER_SEC / 6, NSEC_PER_SEC / 3);
	/* Pieces count once. */
	one = cost_of(w, 1) + cost_of(w, 2);
	user_costs_divide(w->costs, NSEC_PER_SEC);
	assert_int_equal(cost_of(w, 1) + cost_of(w, 2), one);
}

static void test_rates(void **state)
{
	struct world *w = *state;
	struct number_rate out[COST_NUMBERS];

	for (int i = 0; i < 100; i++) {
		user_costs_end(w->costs, user_costs_begin(w->costs, 1001));
		user_costs_end(w->costs, user_costs_begin(w->costs, 2001));
		user_costs_end(w->costs, user_costs_begin(w->costs, 9000001));
	}
	assert_int_equal(user_costs_rates(w->costs, out), 0);
	for (uint32_t i = 0; i < w->rates.nr_users; i++)
		w->rates.users[i].times = w->rates.users[i].user == 2 ? 8 : 1;
	assert_int_equal(user_costs_rates(w->costs, out), 1);
	assert_int_equal(out[0].number, 2);
	assert_int_equal(out[0].times, 8);
	assert_int_equal(user_costs_rates(NULL, out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_sum_is_what_was_computed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lookups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_piece_within_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_others_say, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_users_than_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_divide, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rates, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
