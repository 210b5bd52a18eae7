/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/rate_budget.h"

enum { RISE_WINDOWS = 4 };
#define RISE_SHARE 0.9			/* of the budget: what a higher rate must stay below */
#define HELPED 0.8			/* of what he cost at twice the rate */
#define MOST_IN_VAIN 2
#define NOBODY RATE_USERS

void rate_budget_init(struct rate_budget *b, double budget)
{
	*b = (struct rate_budget){ .budget = budget, .times = 1, .changed = NOBODY };
	for (size_t i = 0; i < RATE_USERS; i++)
		b->users[i].times = 1;
}

void rate_budget_started(struct rate_budget *b)
{
	b->settling = RATE_SETTLE_WINDOWS;
	b->low = 0;
}

/* The user who costs as much as all others together. NOBODY: there is none, or only one user. */
static size_t heaviest_user(const struct rate_budget *b)
{
	size_t best = NOBODY, nr = 0;
	double all = 0;

	for (size_t i = 0; i < RATE_USERS; i++) {
		double cost = b->users[i].cost;

		all += cost;
		nr += cost > 0;
		if (cost > 0 && (best == NOBODY || cost > b->users[best].cost))
			best = i;
	}
	return nr < 2 || 2 * b->users[best].cost < all ? NOBODY : best;
}

static void change(struct rate_budget *b, size_t who)
{
	b->changed = who;
	b->low = 0;
	b->skips = true;
}

/* Whether a lower rate of this user is worth a try. */
static bool may_lower(struct rate_user *u)
{
	if (u->cost_before > 0)
		u->in_vain = u->cost > HELPED * u->cost_before ? u->in_vain + 1 : 0;
	u->cost_before = 0;
	return u->times < RATE_USER_MOST_TIMES && u->in_vain < MOST_IN_VAIN;
}

static void lower_user(struct rate_user *u)
{
	u->cost_before = u->cost;
	u->times *= 2;
}

static enum rate_change lower(struct rate_budget *b)
{
	size_t who = heaviest_user(b);
	struct rate_user *u = who == NOBODY ? NULL : &b->users[who];
	bool said = b->is_at_lowest, may = u ? may_lower(u) : b->times < RATE_MOST_TIMES;

	/* The rest is too much as well. */
	if (u && !may && b->times < RATE_MOST_TIMES &&
	    (who == b->last.root || b->cost - u->cost > b->budget)) {
		u = NULL;
		who = NOBODY;
		may = true;
	}
	b->low = 0;
	b->is_at_lowest = !may;
	b->changed = who;
	if (!may)
		return said ? RATE_STAYS : RATE_AT_LOWEST;
	if (u)
		lower_user(u);
	else
		b->times *= 2;
	change(b, who);
	return RATE_LOWER;
}

static bool fits(const struct rate_budget *b, double more)
{
	return b->cost + more <= RISE_SHARE * b->budget;
}

/* The user with the lowest rate among those whose higher rate would fit. NOBODY: there is none. */
static size_t slowest_user(const struct rate_budget *b)
{
	size_t best = NOBODY;

	for (size_t i = 0; i < RATE_USERS; i++) {
		const struct rate_user *u = &b->users[i];

		if (u->times > 1 && fits(b, u->cost) &&
		    (best == NOBODY || u->times > b->users[best].times))
			best = i;
	}
	return best;
}

static void raise_user(struct rate_user *u)
{
	u->times /= 2;
	u->cost_before = 0;
	u->in_vain = 0;
}

static enum rate_change rise(struct rate_budget *b)
{
	size_t who = slowest_user(b);

	b->is_at_lowest = false;
	if (who == NOBODY && (b->times == 1 || !fits(b, b->cost))) {
		b->low = 0;
		return RATE_STAYS;
	}
	if (++b->low < RISE_WINDOWS)
		return RATE_STAYS;
	if (who == NOBODY)
		b->times /= 2;
	else
		raise_user(&b->users[who]);
	change(b, who);
	return RATE_RISE;
}

static double share(uint64_t now, uint64_t before, uint64_t ns)
{
	return now > before ? (double)(now - before) / (double)ns : 0;
}

static void take_costs(struct rate_budget *b, uint64_t ns, const struct rate_costs *c)
{
	double known = 0;

	if (c->cpu_ns >= b->last.cpu_ns)
		b->cost = share(c->cpu_ns, b->last.cpu_ns, ns);
	for (size_t i = 0; i < RATE_USERS; i++) {
		double cost = i < c->nr_users ? share(c->user_ns[i], b->last.user_ns[i], ns) : 0;

		b->users[i].cost = cost;
		known += cost;
	}
	for (size_t i = 0; i < RATE_USERS && known > 0; i++)
		b->users[i].cost *= b->cost / known;
}

enum rate_change rate_budget_window(struct rate_budget *b, uint64_t now,
				    const struct rate_costs *costs)
{
	bool is_first = !b->last_ns, skips = b->skips || b->settling;

	if (now > b->last_ns && !is_first)
		take_costs(b, now - b->last_ns, costs);
	b->last_ns = now;
	b->last = *costs;
	b->skips = false;
	b->settling -= b->settling > 0;
	if (is_first || skips || b->budget <= 0)
		return RATE_STAYS;
	return b->cost > b->budget ? lower(b) : rise(b);
}
