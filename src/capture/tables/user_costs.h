/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each user's processes cost the recorder, so that an agent can lower the rate of whom its
 * budget goes to, and leave the others theirs (src/agent/rate_budget.h).
 *
 * Two kinds of work are known by user: what the main thread does for a process (a stack, an event),
 * and what other processes do for one (tables, names, reading of memory), which say so themselves.
 * What is left, such as compressing the trace, belongs to no user.
 *
 * Looking at the clock of a thread twice takes as long as a short stack. So one piece of work in
 * COST_ONE_IN is measured, by chance, and counts that many times.
 *
 * Example: user 1000 runs 5,000 threads, and user 1001 one. Snapshots have 5,001 rows; 1,250 of
 * them are measured, and all but one or none are of user 1000.
 *
 *	user_costs_new(&deps, &c)
 *	piece = user_costs_begin(c, tgid)	work for this process begins
 *	user_costs_end(c, piece)
 *	user_costs_add(c, user, ns)		from any thread
 *	user_costs_divide(c, ns)		among users, by the number of pieces that were
 *						measured since the last time
 *	user_costs_rates(c, out)		who is to be slowed
 *	user_costs_free(c)
 *
 * All functions take NULL for c, and do nothing then.
 *
 * Limits. A piece within another one counts as a part of that. 256 numbers of users are told apart;
 * others are not slowed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/shared_rates.h"

#define COST_ONE_IN 4
#define COST_NUMBERS 256

struct processes;
struct user_costs;

struct process_users {
	uint32_t number;		/* the real user; if that is root, the effective one */
	uint32_t user;			/* who pays: src/foreign/wait_budget.h */
};

struct user_costs_deps {
	struct shared_rates *rates;
	struct processes *processes;	/* users are looked up once for each of these */
	/* -errno: the process is gone. */
	int (*users_of)(void *ctx, uint32_t tgid, struct process_users *out);
	void *ctx;
};

struct cost_piece {
	uint64_t begin_ns;		/* of the thread's CPU time; 0: it is not measured */
	uint32_t place;
};

/* One of so many of the stacks of processes of this user number is taken. */
struct number_rate {
	uint32_t number, times;
};

int user_costs_new(const struct user_costs_deps *deps, struct user_costs **cp);
void user_costs_free(struct user_costs *c);		/* NULL is fine */

struct cost_piece user_costs_begin(struct user_costs *c, uint32_t tgid);
void user_costs_end(struct user_costs *c, struct cost_piece piece);
void user_costs_add(struct user_costs *c, uint32_t user, uint64_t ns);
void user_costs_divide(struct user_costs *c, uint64_t ns);

/* Those with times > 1. Returns their number. c NULL: none. */
size_t user_costs_rates(const struct user_costs *c, struct number_rate out[COST_NUMBERS]);
