/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many files each user's processes may have probee open in a time, and hold.
 *
 * The problem. A process may map 65,530 different files, and a user may have thousands of such
 * processes. Each file that is opened takes 0.1 ms of the recording's main thread, and a
 * descriptor. Who asks for most would take both from all others.
 *
 * The idea. Each user (wait_budget.h says who that is) has tokens, one for each file that is
 * opened. They come back with time. The last half of them is for files that a stack has met: so a
 * process that maps very many has its files opened when they are needed. And each user may hold a
 * part of all descriptors; who holds as many as he may must give up those that he needed least
 * lately.
 *
 * Example, with 20,000 descriptors:
 *
 *	user 1000 maps 60,000 files	1,024 are opened at once, the others when a stack meets
 *					them, 512 in a second; he holds 2,500 at most
 *	user 1001 starts a program	its files are opened at once
 *	root starts 5,000 programs	their files are opened at once; he holds 6,666 at most
 *
 * Limits. 64 users are told apart; further ones have one share together.
 *
 * Not for several threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct user_shares;

/* nr_fds: descriptors that this process may have. NULL: no memory. */
struct user_shares *user_shares_new(size_t nr_fds);
void user_shares_free(struct user_shares *s);		/* NULL is fine */

/* Whether one more file of user may be opened now, which takes a token. is_met: by a stack. */
bool user_shares_open(struct user_shares *s, uid_t user, bool is_met, uint64_t now_ns);

/* He holds one file more (1) or less (-1). */
void user_shares_hold(struct user_shares *s, uid_t user, int change);
bool user_shares_is_full(const struct user_shares *s, uid_t user);
/* Who holds most. Root counts as if he held a third of what he does. *nr: how many that are. */
uid_t user_shares_heaviest(const struct user_shares *s, size_t *nr);
