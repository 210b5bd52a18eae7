/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User space's part in the limit of the sampler's rate (bpf/rate_limit.h): it says which events may
 * be limited and when the memory for stacks that wait is short, makes the timers slower, and tells,
 * at the end, that the rate was lowered. Twice a second it measures what an interrupt of the
 * timer costs: it reads the clock over and over, and where the clock jumps there was an interrupt.
 *
 *	rate_watch_begin(w, limit, sampler, numbers)	before the sampler starts
 *	rate_watch_look(w, waiting_bytes)		at each turn
 *	rate_watch_end(w, passed_over, session)		at the end: one line, and META rate.lowered
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct perf_sampler;
struct rate_limit;
struct session;

struct rate_watch {
	struct rate_limit *limit;
	struct perf_sampler *sampler;
	double freq_hz;			/* the fastest event that may be limited; 0: none may */
	uint64_t next_ns;		/* when an interrupt is measured again */
};

/* numbers: as perf_sampler_start() gets them. */
void rate_watch_begin(struct rate_watch *w, struct rate_limit *limit,
		      struct perf_sampler *sampler, const uint16_t *numbers);
/* The median of gaps, which are sorted; 0 without any. */
uint64_t rate_watch_gap(uint64_t *gaps, size_t nr);
/* waiting_bytes: of stacks that wait for tables. */
void rate_watch_look(struct rate_watch *w, size_t waiting_bytes);
/* passed_over: ticks. 0 or an error of the session. */
int rate_watch_end(const struct rate_watch *w, uint64_t passed_over, struct session *session);
