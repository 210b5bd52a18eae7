/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that was stuck in the kernel for longest (src/waits/stuck.h), for the first answer of
 * a report, and how many there were.
 *
 *	answer_stuck_sample(a, sample, nr)	each row of a snapshot; 0 or -ENOMEM
 *	a->text					"dd 8541, 4.3 s in openat of ..."; NULL: none
 *	answer_stuck_release(a)
 */
#pragma once

#include <stdint.h>

struct report_sample;
struct syscall_names;

#define ANSWER_STUCK 100

struct answer_stuck {
	char *text;			/* foreign bytes */
	uint32_t nr;			/* threads; no more are counted than ANSWER_STUCK */
	/* Private: */
	struct syscall_names *calls;
	uint64_t ns;
	uint64_t threads[ANSWER_STUCK];	/* segment and id */
};

int answer_stuck_sample(struct answer_stuck *a, const struct report_sample *s, uint64_t nr);
void answer_stuck_release(struct answer_stuck *a);
