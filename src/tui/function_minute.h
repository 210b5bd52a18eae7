/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What functions cost in each second of the last minute, for sparklines.
 *
 *	struct function_minute m = { 0 };
 *	function_minute_update(&m, &wish)	each time before it is drawn
 *	function_minute_find(&m, key, ...)
 *	function_minute_release(&m)
 *
 * A view has counts of stacks by second, and a function is in many stacks. So a small call tree is
 * made of each second, and of it only the cost of each function is kept. A second that is over for
 * some time does not change, so with each picture only the newest few are made again. The first
 * time all of them are missing: they are made newest first, for MINUTE_BUDGET_NS at a time.
 *
 * Limits. A second keeps the names that functions had when it was over: what got its name later
 * has a gap there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/live/live_profile.h"

#define MINUTE_SECONDS 60
#define MINUTE_BUDGET_NS 8000000

struct profile;

struct minute_wish {
	const struct live_profile *live;
	uint32_t event;
	struct live_choice which;	/* its times are not looked at */
	uint64_t end_ns;		/* CLOCK_MONOTONIC, of the last sample that is shown */
};

struct minute_function {
	uint64_t key, self, total;
};

struct minute_second {
	uint64_t begin_ns;		/* 0: none */
	bool is_over;			/* it does not change any more */
	uint64_t made_for_ns;		/* end_ns of the wish, if it is not over */
	struct minute_function *v;	/* by key */
	size_t nr;
};

struct function_minute {
	struct minute_second v[MINUTE_SECONDS];	/* second s is at s % MINUTE_SECONDS */
	/* What they were made of. */
	const struct live_profile *live;
	uint32_t event, activities, tgid, tid;
	uint64_t end_ns;
	bool is_partial;		/* some are still to be made */
};

void function_minute_update(struct function_minute *m, const struct minute_wish *wish);
/* Names and kind of a function to its key. */
uint64_t function_minute_key(const char *name, const char *binary, uint8_t kind);
/* The cost of a function in a number of columns that divides MINUTE_SECONDS, the oldest first. */
void function_minute_find(const struct function_minute *m, uint64_t key, bool total,
			  uint32_t columns, uint64_t *cells);
void function_minute_release(struct function_minute *m);

/* Adds up what each function of a whole tree costs: the caller frees *v. 0 or -ENOMEM. */
int function_costs_make(const struct profile *p, struct minute_function **v, size_t *nr);
/* NULL: there is no such function. */
const struct minute_function *function_costs_find(const struct minute_function *v, size_t nr,
						  uint64_t key);
