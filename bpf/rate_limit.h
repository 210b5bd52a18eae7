/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the rate of the sampler is lowered so that the machine keeps up. Pure code: the BPF
 * programs run it (bpf/sample.bpf.h), tests call it.
 *
 * The problem. At 100 kHz a tick comes every 10 us on each CPU. A stack of 30 frames whose memory
 * is in no cache takes longer than that, and so does the interrupt alone on some virtual machines.
 * All CPUs would then do nothing but take samples: the recorder does not get to run, the ring
 * overflows, and no table is ever built.
 *
 * The cure. Each CPU looks at its ticks in windows of RATE_WINDOW_NS. If they took too much of its
 * time, if most of them came late because the one before had not ended, or if the ring or the
 * memory for stacks that wait fills up, only one tick in two is taken from then on, in four after
 * the next such window, and so on, on all CPUs alike. User space then makes the timers as much
 * slower (`done`), since a tick that is passed over costs an interrupt all the same. Ticks are
 * passed over whatever thread they meet and the samples weigh as much more, so the profile remains
 * right.
 *
 * The rate goes up again, by one step, when no CPU was near the limit for a while. The while
 * becomes twice as long each time that the rate had to go down. User space decides this, because
 * only user space can measure what an interrupt costs (src/capture/collectors/rate_watch.h). A rate
 * that is too high would leave user space no time to lower it. So a rate beyond
 * RATE_FIRST_HZ is not tried at once, either.
 *
 * All ticks are counted as those that were asked for: one of timers that are four times as slow
 * counts as four, of which three were passed over (COUNTER_PASSED_OVER).
 */
#pragma once

#include <stdint.h>

#define RATE_EVENTS 33			/* numbers of events; 0 is none */
#define RATE_WINDOW_NS (10 * 1000 * 1000ull)
#define RATE_MOST_PERCENT 60		/* of the time of a CPU in ticks */
#define RATE_CALM_PERCENT 25		/* twice as many ticks would be well below the limit */
#define RATE_LATE_PERCENT 50		/* of the ticks come late */
#define RATE_CALM_LATE_PERCENT 10
#define RATE_MOST_TIMES 4096
#define RATE_DRAIN_NS (150 * 1000 * 1000ull)	/* in which user space empties what is too full */
#define RATE_FIRST_HZ 25000
#define RATE_START_HOLD_NS (50 * 1000 * 1000ull)
#define RATE_FIRST_HOLD_NS (1000 * 1000 * 1000ull)
#define RATE_LONGEST_HOLD_NS (12 * 1000 * 1000 * 1000ull)

enum rate_cause { RATE_START = 1, RATE_CPU, RATE_RING, RATE_MEMORY };

/* State of all CPUs. That two of them may write it at once does no harm. */
struct rate_limit {
	/* Written by user space. */
	uint64_t asked_ns[RATE_EVENTS];	/* by event: the period of a clock; 0: it is none */
	uint64_t events;		/* bits of the events that may be limited */
	uint64_t period_ns;		/* of the fastest clock among them; 0: none */
	uint32_t done;			/* the timers are so many times as slow; 0 is like 1 */
	uint32_t memory_is_short;
	/* Written by the ticks. */
	uint32_t times;			/* one tick in so many is taken; 0 is like 1 */
	uint32_t most;			/* the largest of these so far */
	uint32_t cause;			/* enum rate_cause: why it went down last; 0: never */
	uint32_t pad;
	uint64_t changed_ns;		/* when times was changed last */
	uint64_t calm_ns;		/* since then no CPU has been near the limit */
	uint64_t hold_ns;		/* it must be calm for so long before the rate goes up */
};

/* State of one CPU. */
struct rate_window {
	uint64_t begin_ns, busy_ns;
	uint64_t last_ns;		/* the last tick */
	uint64_t ticks, late;		/* in this window */
	uint64_t passed;		/* ticks since one was taken */
};

/* How many of the ticks that were asked for one tick is, and of these one in how many is taken. */
struct rate_share {
	uint32_t done, times;
};

static inline struct rate_share rate_limit_share(const struct rate_limit *r, uint32_t event)
{
	struct rate_share s = { r->done, r->times };

	if (!(r->events >> (event & 63) & 1) || !s.done)
		s.done = 1;
	if (s.times < s.done || !(r->events >> (event & 63) & 1))
		s.times = s.done;
	return s;
}

/* Counts a tick, at the time now: before all else. */
static inline void rate_limit_tick(const struct rate_limit *r, struct rate_window *w, uint64_t now)
{
	uint64_t gap = now - w->last_ns, period = r->period_ns * (r->done ? r->done : 1);

	w->last_ns = now;
	w->ticks++;
	/* After a longer time the machine was paused, which a lower rate does not cure. */
	w->late += gap > period + period / 2 && gap < period * 16;
}

/* true: this tick is passed over. */
static inline int rate_limit_passes(struct rate_window *w, struct rate_share s)
{
	if (s.times <= s.done)
		return 0;
	w->passed += s.done;
	if (w->passed < s.times)
		return 1;
	w->passed = 0;
	return 0;
}

/* The weight of a sample whose event has this period as the kernel says. */
static inline uint64_t rate_limit_weight(const struct rate_limit *r, struct rate_share s,
					 uint32_t event, uint64_t period)
{
	uint64_t asked = event < RATE_EVENTS ? r->asked_ns[event] : 0;

	/* The kernel's word for a clock may be the period with which it began. */
	return asked ? asked * s.times : period * (s.times / s.done);
}

/* Before the first tick, of a clock that was asked for with hz. */
static inline void rate_limit_begin(struct rate_limit *r, double hz, uint64_t now)
{
	r->times = 1;
	while (hz / r->times > RATE_FIRST_HZ && r->times < RATE_MOST_TIMES)
		r->times *= 2;
	r->most = r->times;
	r->cause = r->times > 1 ? RATE_START : 0;
	r->hold_ns = RATE_START_HOLD_NS;
	r->changed_ns = now;
	r->calm_ns = now;
}

static inline void rate_limit_lower(struct rate_limit *r, uint32_t cause, uint64_t now)
{
	uint32_t times = r->times < 2 ? 2 : 2 * r->times;

	if (times > RATE_MOST_TIMES)
		return;
	r->times = times;
	if (times > r->most)
		r->most = times;
	r->cause = cause;
	/* Steps that follow each other are one time. */
	if (r->hold_ns < RATE_FIRST_HOLD_NS)
		r->hold_ns = RATE_FIRST_HOLD_NS;
	else if (now - r->changed_ns > r->hold_ns / 2)
		r->hold_ns = r->hold_ns > RATE_LONGEST_HOLD_NS / 2 ? RATE_LONGEST_HOLD_NS
								     : 2 * r->hold_ns;
	r->changed_ns = now;
	r->calm_ns = now;
}

/* Why the rate is to go down; 0: it need not. */
static inline uint32_t rate_limit_cause(const struct rate_limit *r, uint64_t busy_percent,
					uint64_t late_percent, int ring_is_short, int has_waited)
{
	uint32_t done = r->done ? r->done : 1;

	/* User space has to follow first: with slower timers, and with what fills the ring. */
	if (r->times >= 4 * done)
		return 0;
	if (busy_percent > RATE_MOST_PERCENT || late_percent > RATE_LATE_PERCENT)
		return RATE_CPU;
	if (!has_waited)
		return 0;
	if (ring_is_short)
		return RATE_RING;
	return r->memory_is_short ? RATE_MEMORY : 0;
}

static inline int rate_limit_due(const struct rate_window *w, uint64_t now)
{
	return now - w->begin_ns >= RATE_WINDOW_NS;
}

/* Looks at the window that is over. */
static inline void rate_limit_look(struct rate_limit *r, struct rate_window *w, uint64_t now,
				   int ring_is_short)
{
	uint64_t begin = w->begin_ns, busy = w->busy_ns * 100 / (now - begin);
	uint64_t late = w->ticks ? w->late * 100 / w->ticks : 0;
	uint32_t cause = rate_limit_cause(r, busy, late, ring_is_short,
					  now - r->changed_ns > RATE_DRAIN_NS);

	w->begin_ns = now;
	w->busy_ns = 0;
	w->ticks = 0;
	w->late = 0;
	if (!begin || begin < r->changed_ns)
		return;			/* partly at another rate */
	if (cause) {
		rate_limit_lower(r, cause, now);
		return;
	}
	if (busy > RATE_CALM_PERCENT || late > RATE_CALM_LATE_PERCENT)
		r->calm_ns = now;
}

/* For user space. true: the rate may go up by a step, if the interrupts let it. */
static inline int rate_limit_may_rise(const struct rate_limit *r, uint64_t now)
{
	return r->times > 1 && now - r->calm_ns > r->hold_ns && now - r->changed_ns > r->hold_ns;
}

static inline void rate_limit_rise(struct rate_limit *r, uint64_t now)
{
	r->times /= 2;
	r->changed_ns = now;
}
