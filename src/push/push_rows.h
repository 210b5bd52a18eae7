/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of profiles while their windows are open: what is equal in all of a row's key is one
 * row, with the number of its samples and what they weigh together. Embedded; all zero is empty.
 *
 *	push_rows_add(&rows, &row)		row.count samples that weigh row.weight together
 *	push_rows_take(&rows, until, &ready)	moves the rows of windows below until to ready, in
 *						the order of profiles
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

/* In place of a process: all kernel threads and idle tasks; the machine as a whole. */
#define PUSH_KERNEL UINT32_MAX
#define PUSH_HOST (UINT32_MAX - 1)
/* In place of an event: what is missing. ustack is its cause then (loss_list.h). */
#define PUSH_LOSSES UINT32_MAX

struct push_row {
	uint32_t segment, process;	/* PROCESS id; 0: unknown */
	uint32_t event;			/* index of report_events() */
	/* THREAD id, or STRING id of its name (push_encode_opts.threads); 0: not told apart. */
	uint32_t thread;
	uint64_t window;		/* its beginning is that times window_ns */
	/* The weight of one sample of CPU time; 0: rows of different weights go together. */
	uint64_t each;
	uint32_t kstack, ustack;
	uint32_t end;			/* enum stack_end */
	uint32_t state;			/* enum activity plus 1; 0: not told apart */
	uint64_t count, weight;
};

struct push_rows {
	struct push_row *v;
	size_t nr, cap;
	struct hash_index index;
};

void push_rows_release(struct push_rows *r);
int push_rows_add(struct push_rows *r, const struct push_row *row);	/* 0 or -ENOMEM */
/* ready must be empty. 0 or -ENOMEM. */
int push_rows_take(struct push_rows *r, uint64_t until, struct push_rows *ready);

/* Both rows are of one profile: segment, process, event, window and each are equal. */
int push_rows_same_profile(const struct push_row *a, const struct push_row *b);
