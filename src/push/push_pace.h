/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast a receiver is sent to, and how much of it in one request.
 *
 * The problem. Pyroscope takes 4 MiB a second of a tenant and 2 MiB at once, by default. It takes
 * the profiles of a request one after the other, and answers 429 at the first one that is too much.
 * Those before it are stored, and a sender that sends the request again has them stored twice.
 *
 * The idea. Requests cost at most half of what is taken at once, and come at half of the rate. With
 * Pyroscope's own protocols that is so from the beginning. With OTLP, where a collector has no such
 * limits and large requests are much smaller in all, it is so from the first 429 on, or when the
 * user has said a rate. A request of one profile that is refused was not stored at all.
 *
 *	push_pace_begin(&p, rate, is_pyroscope)	rate 0: the usual one
 *	wait = push_pace_wait(&p, now)		before each request: ns to wait
 *	push_pace_sent(&p, cost, now)		after it
 *	push_pace_refused(&p)			after a 429: paces from now on
 *
 * Limits. What Pyroscope counts is estimated (push_body.cost), other senders may have used up what
 * it takes, and a profile may cost more than a request should. So a sender still counts requests
 * of several profiles that it has sent again (push_result.again).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct push_pace {
	uint64_t rate;			/* cost a second; 0: as fast as it goes */
	uint64_t max_cost;		/* of one request; 0: any */
	uint64_t next_ns;		/* CLOCK_MONOTONIC */
};

void push_pace_begin(struct push_pace *p, uint64_t rate, bool is_pyroscope);
uint64_t push_pace_wait(const struct push_pace *p, uint64_t now_ns);
void push_pace_sent(struct push_pace *p, uint64_t cost, uint64_t now_ns);
void push_pace_refused(struct push_pace *p);
