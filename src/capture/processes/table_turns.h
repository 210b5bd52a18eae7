/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose unwind table is built next.
 *
 * The problem. Tables are built by a few worker threads. Whoever runs thousands of different files,
 * or files whose tables take long, would keep all others waiting for theirs.
 *
 * The idea. Only a few tables of each owner are with the workers at a time: 8, and 1 when his
 * tables have cost much of late. The others wait here, and hold no descriptors. Root's files are
 * those of the distribution, which all users run, so they may take all workers.
 *
 *	table_turns_new()
 *	table_turns_add(q, &turn)		it waits from now on
 *	while (table_turns_next(q, &turn))	the best one whose owner may have one more; it does
 *		n = table_turns_begin(q, owner)	not wait any more. The caller says that it is built
 *	table_turns_over(q, n, took, now)	and when that is over
 *	table_turns_free(q)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct table_turns;

struct table_turn {
	uint32_t binary;
	int priority;			/* the smaller one comes first, then the older one */
	uint32_t owner;			/* of the file; 0: root */
};

struct table_turns *table_turns_new(void);		/* NULL: no memory */
void table_turns_free(struct table_turns *q);		/* NULL is fine */
int table_turns_add(struct table_turns *q, const struct table_turn *turn);	/* 0 or -ENOMEM */
void table_turns_hurry(struct table_turns *q, uint32_t binary, int priority);
bool table_turns_next(struct table_turns *q, struct table_turn *out);
bool table_turns_drop(struct table_turns *q, struct table_turn *out);	/* any that waits */
/*
 * Whether a table waits or is with the workers whose owner has few of them, and none that have cost
 * much of late: then waiting for it leads to an end.
 */
bool table_turns_have_few(const struct table_turns *q);
unsigned table_turns_begin(struct table_turns *q, uint32_t owner);
void table_turns_over(struct table_turns *q, unsigned begun, uint64_t took_ns, uint64_t now_ns);
