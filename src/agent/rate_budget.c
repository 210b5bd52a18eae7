/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/rate_budget.h"

enum { RISE_WINDOWS = 4 };
#define RISE_SHARE 0.9			/* of the budget, that twice the cost must stay below */

void rate_budget_init(struct rate_budget *b, double budget)
{
	*b = (struct rate_budget){ .budget = budget, .times = 1 };
}

void rate_budget_started(struct rate_budget *b)
{
	b->settling = RATE_SETTLE_WINDOWS;
	b->low = 0;
}

static enum rate_change lower(struct rate_budget *b)
{
	bool said = b->is_at_lowest;

	b->low = 0;
	b->is_at_lowest = b->times >= RATE_MOST_TIMES;
	if (b->is_at_lowest)
		return said ? RATE_STAYS : RATE_AT_LOWEST;
	b->times *= 2;
	b->skips = true;
	return RATE_LOWER;
}

static enum rate_change rise(struct rate_budget *b)
{
	b->is_at_lowest = false;
	if (b->times == 1 || 2 * b->cost > RISE_SHARE * b->budget) {
		b->low = 0;
		return RATE_STAYS;
	}
	if (++b->low < RISE_WINDOWS)
		return RATE_STAYS;
	b->low = 0;
	b->times /= 2;
	b->skips = true;
	return RATE_RISE;
}

enum rate_change rate_budget_window(struct rate_budget *b, uint64_t now, uint64_t cpu_ns)
{
	bool is_first = !b->last_ns, skips = b->skips || b->settling;

	if (now > b->last_ns && !is_first && cpu_ns >= b->last_cpu_ns)
		b->cost = (double)(cpu_ns - b->last_cpu_ns) / (double)(now - b->last_ns);
	b->last_ns = now;
	b->last_cpu_ns = cpu_ns;
	b->skips = false;
	b->settling -= b->settling > 0;
	if (is_first || skips || b->budget <= 0)
		return RATE_STAYS;
	return b->cost > b->budget ? lower(b) : rise(b);
}
