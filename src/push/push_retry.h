/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to try again: without a clock and without waiting, so that ten minutes of an outage take no
 * time in a test.
 *
 *	push_retry_begin(&r, &policy, now)	at the beginning, and after each delivery
 *	wait = push_retry_wait(&r, now, wish)	after a failure: wait so long, or PUSH_RETRY_NEVER
 *
 * Waits double from first_ns to most_ns. A random half of each is left out, so that a thousand
 * senders that lost the same receiver do not come back at the same moment. If the receiver said
 * when (Retry-After), that is kept, and up to a tenth is added to it for the same reason.
 *
 * Example: first 1 s, most 30 s, give up after 10 s.
 *
 *	failure at 0.0 s	wait 0.5 .. 1 s
 *	failure at 0.8 s	wait 1 .. 2 s
 *	failure at 2.4 s	Retry-After 30 s: PUSH_RETRY_NEVER: 32.4 s is later than 10 s
 *
 * Source: the OTLP specification, "OTLP/HTTP Throttling" and "OTLP/HTTP Connection".
 */
#pragma once

#include <stdint.h>

#define PUSH_RETRY_NEVER UINT64_MAX

struct push_retry_policy {
	uint64_t first_ns, most_ns;
	uint64_t give_up_ns;		/* after the last success; 0: no second attempt */
};

struct push_retry {
	struct push_retry_policy policy;
	uint64_t begin_ns;
	uint64_t random;		/* state of the generator; not 0 */
	unsigned failures;		/* since begin_ns */
};

/* seed: any number; it is mixed with what is there already. */
void push_retry_seed(struct push_retry *r, uint64_t seed);
void push_retry_begin(struct push_retry *r, const struct push_retry_policy *p, uint64_t now_ns);
/* wish_ns: what the receiver asked for; 0: nothing. */
uint64_t push_retry_wait(struct push_retry *r, uint64_t now_ns, uint64_t wish_ns);
