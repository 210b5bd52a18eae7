/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many code objects of runtimes (runtime_names.h) each user's processes may have, and whose are
 * read next.
 *
 * The problem. A program can show frames of a hundred thousand new code objects in a second. All of
 * them would be remembered, so there would be no room for those of others, and all would be read by
 * one thread, so the names of others would come when it is too late.
 *
 * The idea. Each user may have a quarter of all objects, root a half, and an eighth of all may wait
 * to be read. An object waits behind those of users who have fewer of them waiting: its priority is
 * the number of its user's objects that wait.
 *
 * Example: user 1000 has 9,000 objects waiting, and user 1001 meets three functions. These have the
 * priorities 0, 1 and 2, and are read as soon as the thread is free. At the end of a recording they
 * are waited for, and those of user 1000 for a second only.
 *
 * Limits. 16 users are told apart; further ones count as one.
 *
 *	struct code_owners o;
 *	code_owners_init(&o, nr, user_of, ctx)	nr: objects in all
 *	c = code_owner_of(&o, p)
 *	code_owner_may_add(&o, c)		then c->nr++
 *	code_owner_waits(&o, c)			an object waits; returns its priority
 *	code_owner_was_read(&o, c)		it does not wait any more
 *	code_owners_release(&o)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/per_process.h"

#define CODE_OWNERS 16

struct process;

struct code_owner {
	uint32_t user;
	size_t nr;			/* objects */
	size_t nr_waiting;		/* to be read */
};

/* The user who pays for a process: see src/foreign/wait_budget.h. NULL: all are one. */
typedef uint32_t (*process_owner_fn)(void *ctx, uint32_t tgid);

struct code_owners {
	struct per_process of;		/* who owns a process */
	struct code_owner v[CODE_OWNERS];
	size_t nr, nr_objects;
	process_owner_fn user_of;
	void *ctx;
};

void code_owners_init(struct code_owners *o, size_t nr_objects, process_owner_fn user_of,
		      void *ctx);
void code_owners_release(struct code_owners *o);

/* The owner of p, valid until the release. Processes that are gone have one together. */
struct code_owner *code_owner_of(struct code_owners *o, const struct process *p);
bool code_owner_may_add(const struct code_owners *o, const struct code_owner *c);
int code_owner_waits(struct code_owner *c);
void code_owner_was_read(struct code_owner *c);
/* Whether any object waits whose user has few of them waiting. */
bool code_owners_have_few_waiting(const struct code_owners *o);
