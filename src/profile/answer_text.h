/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of the first answer (answer.h), from what was counted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/report/state_words.h"

struct answer_lines;
struct report;

/* A program, or one name of its threads. */
struct account {
	const char *name;
	bool is_shown;			/* a program; or a thread of the only program */
	uint64_t weight, samples;	/* of the event that is shown, in its unit */
	uint64_t wall[ACTIVITIES];	/* rows of snapshots, in the unit of that event */
	const char *hot;		/* innermost function with most weight; NULL: unknown */
	uint64_t hot_weight;
	uint64_t idle;			/* of .weight, in which .hot has no part */
};

struct answer_sum {
	uint64_t weight, samples, scans;
	uint64_t wall[ACTIVITIES], rows[ACTIVITIES];
	uint64_t idle;			/* of .weight: src/waits/idle.h */
	unsigned idle_kinds;		/* bits: 1 << enum idle */
	const char *stuck;		/* answer_stuck.h; NULL: none */
	uint32_t nr_stuck;
	const char *deadlock;		/* answer_deadlock.h; NULL: none */
};

/*
 * Makes the lines; each is put into text[], which the caller frees. v is sorted. 0 or -ENOMEM.
 */
int answer_text(const struct report *rep, const struct answer_sum *sum, struct account *v,
		size_t nr, char **text, struct answer_lines *lines);
