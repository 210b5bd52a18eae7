/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the rate of the sampler goes down and up; every tick that was asked for is counted once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/rate_limit.h"
#include "src/capture/collectors/rate_watch.h"

#define MS (1000 * 1000ull)
#define PERIOD 50000ull			/* 20 kHz */
#define CLOCK 3				/* numbers of events */
#define COUNTED 4

struct cpu {
	struct rate_window w;
	uint64_t fired, passed, taken, weight;
};

/* A machine of one CPU, on which each tick that is taken costs cost_ns. */
struct machine {
	struct rate_limit r;
	struct cpu cpu;
	uint64_t now, cost_ns;
	int ring_is_short, follows;	/* user space makes the timers slower at once */
};

static struct machine machine(double hz, uint64_t cost_ns)
{
	struct machine m = { .now = 1000 * MS, .cost_ns = cost_ns, .follows = 1 };

	m.r.events = 1 << CLOCK;
	m.r.asked_ns[CLOCK] = m.r.period_ns = (uint64_t)(1e9 / hz);
	rate_limit_begin(&m.r, hz, m.now);
	m.r.done = m.r.times;
	return m;
}

/* A tick of an event, as bpf/sample.bpf.h does it. */
static void tick(struct machine *m, uint32_t event)
{
	struct cpu *c = &m->cpu;
	struct rate_share s;

	rate_limit_tick(&m->r, &c->w, m->now);
	if (rate_limit_due(&c->w, m->now))
		rate_limit_look(&m->r, &c->w, m->now, m->ring_is_short);
	s = rate_limit_share(&m->r, event);
	c->fired += s.done;
	if (rate_limit_passes(&c->w, s)) {
		c->passed += s.done;
		return;
	}
	c->passed += s.done - 1;
	c->taken++;
	c->weight += rate_limit_weight(&m->r, s, event, 7);
	c->w.busy_ns += m->cost_ns;
	m->now += m->cost_ns;
}

/* Time passes; a timer that is late fires at the next multiple of its period. */
static void run(struct machine *m, uint64_t ns)
{
	uint64_t end = m->now + ns;

	while (m->now < end) {
		uint64_t period = m->r.period_ns * (m->r.done ? m->r.done : 1);

		m->now = (m->now / period + 1) * period;
		tick(m, CLOCK);
		if (m->follows && m->r.times)
			m->r.done = m->r.times;
	}
	assert_int_equal(m->cpu.fired, m->cpu.passed + m->cpu.taken);
}

static void test_keeps_up(void **state)
{
	struct machine m = machine(20000, 10000);

	(void)state;
	run(&m, 1000 * MS);
	assert_int_equal(m.r.times, 1);
	assert_int_equal(m.r.cause, 0);
	assert_int_equal(m.cpu.passed, 0);
	assert_int_equal(m.cpu.weight, m.cpu.taken * PERIOD);
	assert_in_range(m.cpu.taken, 19990, 20000);
}

/* The weights add up to the time that has passed, at whatever rate. */
static void assert_time(const struct machine *m, uint64_t ns)
{
	assert_in_range(m->cpu.weight, ns - ns / 20, ns + ns / 20);
}

static void test_ticks_take_too_long(void **state)
{
	struct machine m = machine(20000, 45000);

	(void)state;
	run(&m, 1000 * MS);
	assert_int_equal(m.r.times, 2);
	assert_int_equal(m.r.most, 2);
	assert_int_equal(m.r.cause, RATE_CPU);
	assert_true(m.cpu.passed > 0);
	assert_time(&m, 1000 * MS);
}

/* Each tick comes late, because the one before took longer than the period. */
static void test_ticks_come_late(void **state)
{
	struct machine m = machine(20000, 0);
	uint64_t begin;

	(void)state;
	run(&m, 20 * MS);
	begin = m.now;
	while (m.now < begin + 100 * MS) {
		m.now += 2 * PERIOD;
		tick(&m, CLOCK);
	}
	assert_true(m.r.times >= 2);
	assert_int_equal(m.r.cause, RATE_CPU);
	/* Pauses of the machine are no reason. */
	m = machine(20000, 0);
	for (int i = 0; i < 100; i++) {
		run(&m, 5 * MS);
		m.now += 100 * MS;
	}
	assert_int_equal(m.r.times, 1);
}

/* Where user space does not follow, the rate goes down two steps and waits for it. */
static void test_user_space_is_behind(void **state)
{
	struct machine m = machine(20000, 1000);

	(void)state;
	m.follows = 0;
	m.ring_is_short = 1;
	run(&m, 3000 * MS);
	assert_int_equal(m.r.done, 1);
	assert_int_equal(m.r.times, 4);
	assert_int_equal(m.r.cause, RATE_RING);
	assert_in_range(m.cpu.passed, 40000, 46000);
	assert_time(&m, 3000 * MS);
	m.follows = 1;
	m.ring_is_short = 0;
	run(&m, 100 * MS);
	assert_int_equal(m.r.times, 4);
	m.r.memory_is_short = 1;
	run(&m, 1000 * MS);
	assert_true(m.r.times > 4);
	assert_int_equal(m.r.cause, RATE_MEMORY);
}

/* It goes up step by step, later after each time that it had to go down. */
static void test_up_again(void **state)
{
	struct machine m = machine(100000, 1000);

	(void)state;
	assert_int_equal(m.r.times, 4);
	assert_int_equal(m.r.cause, RATE_START);
	assert_false(rate_limit_may_rise(&m.r, m.now + RATE_START_HOLD_NS));
	run(&m, 60 * MS);
	assert_true(rate_limit_may_rise(&m.r, m.now));
	rate_limit_rise(&m.r, m.now);
	assert_int_equal(m.r.times, 2);
	assert_false(rate_limit_may_rise(&m.r, m.now + MS));
	run(&m, 60 * MS);
	rate_limit_rise(&m.r, m.now);
	assert_int_equal(m.r.times, 1);
	run(&m, 60 * MS);
	assert_false(rate_limit_may_rise(&m.r, m.now));
	rate_limit_lower(&m.r, RATE_RING, m.now);
	assert_int_equal(m.r.hold_ns, RATE_FIRST_HOLD_NS);
	run(&m, 900 * MS);
	assert_false(rate_limit_may_rise(&m.r, m.now));
	run(&m, 200 * MS);
	assert_true(rate_limit_may_rise(&m.r, m.now));
	rate_limit_lower(&m.r, RATE_RING, m.now);
	assert_int_equal(m.r.hold_ns, 2 * RATE_FIRST_HOLD_NS);
	for (int i = 0; i < 20; i++)
		rate_limit_lower(&m.r, RATE_RING, m.now += RATE_LONGEST_HOLD_NS);
	assert_int_equal(m.r.hold_ns, RATE_LONGEST_HOLD_NS);
	assert_int_equal(m.r.times, RATE_MOST_TIMES);
	assert_int_equal(m.r.most, RATE_MOST_TIMES);
}

/* An event that counts is taken whatever the rate is, with its own weight. */
static void test_other_events(void **state)
{
	struct machine m = machine(100000, 1000);
	uint64_t taken;

	(void)state;
	run(&m, 5 * MS);
	taken = m.cpu.taken;
	m.cpu.weight = 0;
	for (int i = 0; i < 10; i++)
		tick(&m, COUNTED);
	assert_int_equal(m.cpu.taken, taken + 10);
	assert_int_equal(m.cpu.weight, 70);
}

static void test_median(void **state)
{
	uint64_t gaps[] = { 9, 1, 5, 700, 4 };

	(void)state;
	assert_int_equal(rate_watch_gap(gaps, 5), 5);
	assert_int_equal(rate_watch_gap(gaps, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_up),
		cmocka_unit_test(test_ticks_take_too_long),
		cmocka_unit_test(test_ticks_come_late),
		cmocka_unit_test(test_user_space_is_behind),
		cmocka_unit_test(test_up_again),
		cmocka_unit_test(test_other_events),
		cmocka_unit_test(test_median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
