/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an agent and its recorder tell each other of costs and rates: a page of memory that both
 * processes share. The recorder says what each user's processes have cost, and the agent at which
 * rates it is to record. One process writes each field; numbers are read and written whole.
 *
 * A user has a place as soon as his processes have cost something, and keeps it for as long as the
 * agent runs. Users for whom there is no place have the first one together.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define RATE_USERS 32
#define RATE_OTHER_USERS UINT32_MAX	/* the user of place 0 */

struct shared_user {
	_Atomic uint32_t user;		/* who pays: src/foreign/wait_budget.h */
	_Atomic uint32_t times;		/* one of so many of his stacks is taken; 0 is like 1 */
	_Atomic uint64_t cost_ns;	/* CPU time, so far */
};

struct shared_rates {
	_Atomic uint32_t times;		/* so many times as slow as asked for, for all; 0: like 1 */
	_Atomic uint32_t nr_users;	/* places that are taken; 0 is like 1 */
	struct shared_user users[RATE_USERS];
};
