/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_pace.h"

#include "src/base/clock.h"

#define USUAL_RATE (2u << 20)
#define USUAL_COST (1u << 20)

static void pace(struct push_pace *p, uint64_t rate)
{
	p->rate = rate;
	p->max_cost = rate < USUAL_COST ? rate : USUAL_COST;
}

void push_pace_begin(struct push_pace *p, uint64_t rate, bool is_pyroscope)
{
	*p = (struct push_pace){ .rate = 0 };
	if (rate || is_pyroscope)
		pace(p, rate ? rate : USUAL_RATE);
}

uint64_t push_pace_wait(const struct push_pace *p, uint64_t now_ns)
{
	return p->rate && p->next_ns > now_ns ? p->next_ns - now_ns : 0;
}

void push_pace_sent(struct push_pace *p, uint64_t cost, uint64_t now_ns)
{
	if (p->rate)
		p->next_ns = now_ns + (uint64_t)((double)cost / (double)p->rate *
						 (double)NSEC_PER_SEC);
}

void push_pace_refused(struct push_pace *p)
{
	if (!p->rate)
		pace(p, USUAL_RATE);
}
