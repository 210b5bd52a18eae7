/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the agent's own CPU time within its budget, by the rates of the recorder.
 *
 * After each window the cost of that window is looked at. Above the budget rates are halved from
 * the next window on. If one user costs as much as all others, that is his rate, down to a
 * RATE_USER_MOST_TIMES-th: others keep theirs. Else it is the rate of all, down to a
 * RATE_MOST_TIMES-th. What is not known to be for a certain user, such as reading events and
 * writing the trace, is divided among them as the rest is.
 *
 * What a user costs need not depend on his rate: threads that start and end are told of all the
 * same. So his rate is not lowered further when that was in vain twice in a row. And if all others
 * would fit into the budget without him, theirs is not lowered for it, unless he is root, whose
 * processes are those of the machine.
 *
 * A rate is doubled again when the cost has been so low for RISE_WINDOWS in a row that what this
 * adds would fit: first those of users, the lowest first, then that of all. What a recorder takes
 * for its start is no reason to lower anything: its first RATE_SETTLE_WINDOWS are passed over, and
 * so is the one after a change, of which a part was at the old rate.
 *
 * Example, with a budget of 1 %:
 *
 *	window	cost	of it for users 1000, 1001	then
 *	5	1.9 %	1.8 %, 0.1 %			one stack in 2 of user 1000 is taken
 *	7	1.15 %	1.05 %, 0.1 %			one in 4
 *	9	0.8 %	0.7 %, 0.1 %			it stays: 0.8 + 0.7 is more than 0.9
 *	90	0.3 %	0.2 %, 0.1 %			three windows later: one in 2
 *
 *	rate_budget_started(&b)		a recorder was started
 *	rate_budget_window(&b, now, &costs)	a window has ended
 *						RATE_LOWER, RATE_RISE: b.times has changed, or
 *						that of user b.changed
 *	b.cost				of the last window, CPU seconds a second
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/shared_rates.h"

#define RATE_MOST_TIMES 32
#define RATE_USER_MOST_TIMES 1024
#define RATE_SETTLE_WINDOWS 4

enum rate_change { RATE_STAYS, RATE_LOWER, RATE_RISE, RATE_AT_LOWEST };

/* CPU time until now. Users have places, as in struct shared_rates. */
struct rate_costs {
	uint64_t cpu_ns;		/* all */
	uint64_t user_ns[RATE_USERS];	/* of it: for each user, as far as it is known */
	size_t nr_users;
	size_t root;			/* the place of user 0; RATE_USERS: he has none */
};

struct rate_user {
	uint32_t times;			/* his rate is divided by this, besides */
	double cost;
	double cost_before;		/* when his rate was lowered last */
	unsigned in_vain;		/* times in a row that lowering it has not helped */
};

struct rate_budget {
	double budget;			/* CPU seconds a second; 0: none */
	uint32_t times;			/* the rates are divided by this: 1, 2, 4, ... */
	double cost;
	struct rate_user users[RATE_USERS];
	/* Whose rate has changed, or cannot be lowered further: a place, or RATE_USERS: all. */
	size_t changed;
	uint64_t last_ns;
	struct rate_costs last;
	unsigned settling;		/* windows that are still passed over */
	unsigned low;			/* windows in a row with room */
	bool skips;			/* the next window: the rate was changed in it */
	bool is_at_lowest;		/* said once */
};

void rate_budget_init(struct rate_budget *b, double budget);
void rate_budget_started(struct rate_budget *b);
enum rate_change rate_budget_window(struct rate_budget *b, uint64_t now,
				    const struct rate_costs *costs);
