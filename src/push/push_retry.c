/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_retry.h"

/* A number below n; xorshift is good enough to spread senders. */
static uint64_t below(struct push_retry *r, uint64_t n)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return n ? r->random % n : 0;
}

void push_retry_seed(struct push_retry *r, uint64_t seed)
{
	r->random ^= seed;
	if (!r->random)
		r->random = 1;
}

void push_retry_begin(struct push_retry *r, const struct push_retry_policy *p, uint64_t now_ns)
{
	r->policy = *p;
	r->begin_ns = now_ns;
	r->failures = 0;
	push_retry_seed(r, 0);
}

static uint64_t doubled(const struct push_retry *r)
{
	uint64_t wait = r->policy.first_ns;

	for (unsigned i = 0; i < r->failures && wait < r->policy.most_ns; i++)
		wait *= 2;
	return wait < r->policy.most_ns ? wait : r->policy.most_ns;
}

uint64_t push_retry_wait(struct push_retry *r, uint64_t now_ns, uint64_t wish_ns)
{
	uint64_t passed = now_ns > r->begin_ns ? now_ns - r->begin_ns : 0;
	uint64_t wait = doubled(r);

	wait = wish_ns ? wish_ns + below(r, wish_ns / 10 + 1) : wait - below(r, wait / 2 + 1);
	r->failures++;
	if (passed >= r->policy.give_up_ns || wait > r->policy.give_up_ns - passed)
		return PUSH_RETRY_NEVER;
	return wait;
}
