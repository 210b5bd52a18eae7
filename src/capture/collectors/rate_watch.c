/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/rate_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/rate_limit.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/collectors/perf_sampler.h"
#include "src/capture/session/session.h"

_Static_assert(RATE_EVENTS == WIRE_MAX_EVENTS + 1, "events by number");

/* Waiting stacks may take 48 MiB. The state does not change between these two limits. */
#define SHORT_BYTES (36u << 20)
#define ENOUGH_BYTES (18u << 20)

/*
 * Interrupts that take no sample may take MOST_SHARE of a CPU's time. The rate rises only to where
 * they would take less than RISE_SHARE.
 */
#define MOST_SHARE 0.5
#define RISE_SHARE 0.3
#define LEAST_HZ 5000			/* below it they matter little */
#define LOOK_NS (500 * NSEC_PER_MSEC)
#define GAPS 16
#define SPIN_NS (2 * NSEC_PER_MSEC)
#define LEAST_GAP_NS 600		/* reading the clock takes 30 to 60 */

static void set_clock(struct rate_limit *limit, uint16_t number, uint64_t period_ns)
{
	limit->asked_ns[number] = period_ns;
	if (!limit->period_ns || period_ns < limit->period_ns)
		limit->period_ns = period_ns;
}

static void slow_down(struct rate_watch *w, uint32_t times)
{
	perf_sampler_slow(w->sampler, times);
	*(volatile uint32_t *)&w->limit->done = times;
}

void rate_watch_begin(struct rate_watch *w, struct rate_limit *limit,
		      struct perf_sampler *sampler, const uint16_t *numbers)
{
	const struct event_spec *e;

	*w = (struct rate_watch){ .limit = limit, .sampler = sampler };
	for (size_t i = 0; (e = perf_sampler_event(sampler, i)); i++) {
		if (e->freq_hz <= 0)
			continue;	/* a count is asked for, whatever it costs */
		limit->events |= 1ull << numbers[i];
		if (e->type->by_time)
			set_clock(limit, numbers[i], event_spec_period_ns(e));
		if (e->freq_hz > w->freq_hz)
			w->freq_hz = e->freq_hz;
	}
	rate_limit_begin(limit, w->freq_hz, now_ns());
	slow_down(w, limit->times);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t rate_watch_gap(uint64_t *gaps, size_t nr)
{
	if (nr)
		qsort(gaps, nr, sizeof(*gaps), by_size);
	return nr ? gaps[nr / 2] : 0;
}

/* What an interrupt costs on this CPU, as the median of some; 0: there were too few. */
static uint64_t interrupt_ns(void)
{
	uint64_t gaps[GAPS], begin = now_ns(), last = begin, now;
	size_t nr = 0;

	do {
		now = now_ns();
		if (now - last > LEAST_GAP_NS)
			gaps[nr++] = now - last;
		last = now;
	} while (nr < GAPS && now - begin < SPIN_NS);
	return nr < GAPS / 2 ? 0 : rate_watch_gap(gaps, nr);
}

/* The rate goes down where interrupts alone take too much, and up where all is well. */
static void weigh_interrupts(struct rate_watch *w, uint64_t now)
{
	struct rate_limit *r = w->limit;
	uint64_t cost;
	double share;

	if (now < w->next_ns || w->freq_hz < LEAST_HZ)
		return;
	w->next_ns = now + LOOK_NS;
	cost = interrupt_ns();
	share = (double)cost * w->freq_hz / r->times / 1e9;
	if (share > MOST_SHARE && r->times == r->done)
		rate_limit_lower(r, RATE_CPU, now);
	else if (rate_limit_may_rise(r, now) && cost && 2 * share < RISE_SHARE)
		rate_limit_rise(r, now);
	else if (r->cause == RATE_START && cost)
		r->cause = RATE_CPU;
}

static const char *cause_name(uint32_t cause)
{
	static const char *const names[] = { [RATE_START] = "start",
					     [RATE_CPU] = "cpu",
					     [RATE_RING] = "ring",
					     [RATE_MEMORY] = "memory" };

	return cause && cause < sizeof(names) / sizeof(names[0]) ? names[cause] : "unknown";
}

void rate_watch_look(struct rate_watch *w, size_t waiting_bytes)
{
	volatile uint32_t *is_short = &w->limit->memory_is_short;
	uint32_t times;

	if (waiting_bytes > SHORT_BYTES && !*is_short)
		*is_short = 1;
	else if (waiting_bytes < ENOUGH_BYTES && *is_short)
		*is_short = 0;
	weigh_interrupts(w, now_ns());
	times = *(volatile uint32_t *)&w->limit->times;
	if (times && times != w->limit->done) {
		note_verbose("samples are taken at %.6g Hz from now on (%s)", w->freq_hz / times,
			     cause_name(w->limit->cause));
		slow_down(w, times);
	}
}

int rate_watch_end(const struct rate_watch *w, uint64_t passed_over, struct session *session)
{
	char text[96];

	if (!passed_over)
		return 0;
	snprintf(text, sizeof(text), "lowest=%.6g asked=%.6g passed=%" PRIu64 " cause=%s",
		 w->freq_hz / w->limit->most, w->freq_hz, passed_over,
		 cause_name(w->limit->cause));
	note_kept("samples were taken at %.6g instead of %.6g Hz at times (%s), and weigh as much "
		  "more", w->freq_hz / w->limit->most, w->freq_hz, cause_name(w->limit->cause));
	return session_tell(session, "rate.lowered", text);
}
