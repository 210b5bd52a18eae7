/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outages of minutes and days, by a clock that is only a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "src/push/push_pace.h"
#include "src/push/push_retry.h"

#define S NSEC_PER_SEC

static const struct push_retry_policy patient = { S, 30 * S, 3600 * S };

static struct push_retry begun(const struct push_retry_policy *p, uint64_t seed, uint64_t now)
{
	struct push_retry r = { .random = 0 };

	push_retry_seed(&r, seed);
	push_retry_begin(&r, p, now);
	return r;
}

static void in_range(uint64_t v, uint64_t least, uint64_t most)
{
	assert_true(v >= least);
	assert_true(v <= most);
}

static void test_a_pace(void **state)
{
	struct push_pace p;

	(void)state;
	push_pace_begin(&p, 0, false);		/* a collector: none, until it says 429 */
	push_pace_sent(&p, 100 << 20, S);
	assert_int_equal(push_pace_wait(&p, S), 0);
	assert_int_equal(p.max_cost, 0);
	push_pace_refused(&p);
	assert_int_equal(p.max_cost, 1 << 20);
	push_pace_sent(&p, 3 << 20, 10 * S);
	assert_int_equal(push_pace_wait(&p, 10 * S), 3 * S / 2);
	assert_int_equal(push_pace_wait(&p, 12 * S), 0);

	push_pace_begin(&p, 0, true);		/* Pyroscope: from the beginning */
	assert_int_equal(p.rate, 2 << 20);
	push_pace_begin(&p, 1000, false);	/* the user's own stays */
	push_pace_refused(&p);
	assert_int_equal(p.rate, 1000);
	assert_int_equal(p.max_cost, 1000);
}

static void test_waits_double_up_to_a_limit(void **state)
{
	struct push_retry r = begun(&patient, 1, 1000 * S);
	static const uint64_t most[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
	uint64_t now = 1000 * S;

	(void)state;
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		uint64_t wait = push_retry_wait(&r, now, 0);

		in_range(wait, most[i] * S / 2, most[i] * S);
		now += wait;
	}
}

/* The receiver is down for ten minutes: the sender comes back soon after, and has not hammered. */
static void test_ten_minutes_down(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t now = 5 * S, up = now + 600 * S;
		struct push_retry r = begun(&patient, seed, now);
		unsigned attempts = 0;

		while (now < up) {
			uint64_t wait = push_retry_wait(&r, now, 0);

			assert_int_not_equal(wait, PUSH_RETRY_NEVER);
			now += wait;
			attempts++;
		}
		assert_true(now - up <= 30 * S);
		assert_true(attempts >= 20 && attempts <= 60);
	}
}

static void test_gives_up(void **state)
{
	const struct push_retry_policy p = { S, 30 * S, 60 * S };
	uint64_t now = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct push_retry r = begun(&p, seed, 0);
		uint64_t wait;

		now = 0;
		while ((wait = push_retry_wait(&r, now, 0)) != PUSH_RETRY_NEVER) {
			now += wait;
			assert_true(now <= 60 * S);
		}
		/* Not before another wait would have gone beyond the limit. */
		assert_true(now > 30 * S);
	}
}

static void test_a_delivery_begins_anew(void **state)
{
	const struct push_retry_policy p = { S, 30 * S, 10 * S };
	struct push_retry r = begun(&p, 7, 0);

	(void)state;
	assert_int_not_equal(push_retry_wait(&r, 0, 0), PUSH_RETRY_NEVER);
	assert_int_not_equal(push_retry_wait(&r, S, 0), PUSH_RETRY_NEVER);
	assert_int_equal(push_retry_wait(&r, 11 * S, 0), PUSH_RETRY_NEVER);
	push_retry_begin(&r, &p, 20 * S);
	in_range(push_retry_wait(&r, 20 * S, 0), S / 2, S);
}

static void test_the_receivers_wish(void **state)
{
	const struct push_retry_policy p = { S, 30 * S, 120 * S };
	struct push_retry r = begun(&p, 3, 0);

	(void)state;
	in_range(push_retry_wait(&r, 0, 60 * S), 60 * S, 66 * S);
	/* It is not shortened to fit: coming earlier would only be refused again. */
	assert_int_equal(push_retry_wait(&r, 0, 121 * S), PUSH_RETRY_NEVER);
	assert_int_equal(push_retry_wait(&r, 61 * S, 60 * S), PUSH_RETRY_NEVER);
	assert_int_equal(push_retry_wait(&r, 0, UINT64_MAX / 2), PUSH_RETRY_NEVER);
}

static void test_no_second_attempt(void **state)
{
	const struct push_retry_policy p = { S, 30 * S, 0 };
	struct push_retry r = begun(&p, 3, 5);

	(void)state;
	assert_int_equal(push_retry_wait(&r, 5, 0), PUSH_RETRY_NEVER);
	assert_int_equal(push_retry_wait(&r, 5, S), PUSH_RETRY_NEVER);
}

/* A thousand senders lose a receiver at the same moment, and come back spread over half a wait. */
static void test_senders_spread(void **state)
{
	unsigned early = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct push_retry r = begun(&patient, seed * 0x9e3779b97f4a7c15, 0);

		early += push_retry_wait(&r, 0, 0) < S * 3 / 4;
	}
	in_range(early, 400, 600);
}

/* A clock that was set back, or a seed of zero, does no harm. */
static void test_odd_input(void **state)
{
	struct push_retry r = begun(&patient, 0, 100 * S);

	(void)state;
	assert_int_not_equal(r.random, 0);
	in_range(push_retry_wait(&r, 50 * S, 0), S / 2, S);
	for (unsigned i = 0; i < 200; i++)
		in_range(push_retry_wait(&r, 50 * S, 0), S / 2, 30 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_double_up_to_a_limit),
		cmocka_unit_test(test_a_pace),
		cmocka_unit_test(test_ten_minutes_down),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_a_delivery_begins_anew),
		cmocka_unit_test(test_the_receivers_wish),
		cmocka_unit_test(test_no_second_attempt),
		cmocka_unit_test(test_senders_spread),
		cmocka_unit_test(test_odd_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
