/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The META records at the beginning of a segment, kept until it is known whether the segment goes
 * on with the recording before it.
 *
 *	segment_head_begin(&h)
 *	segment_head_take(&h, rec) ...		1: kept; 0: the head is over, rec is behind it;
 *						-ENOMEM
 *	segment_head_follows(&h, profile)
 *	segment_head_give(&h, fn, ctx)		the records that were kept
 *	segment_head_release(&h)
 *
 * All zero is empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/model/record.h"

struct live_profile;

struct head_meta {
	char *key;			/* its value is behind it, and ends with NUL, too */
	size_t len;			/* of the value */
};

struct segment_head {
	bool is_open;			/* more of it may come */
	struct head_meta *v;
	size_t nr, cap;
};

void segment_head_begin(struct segment_head *h);
int segment_head_take(struct segment_head *h, const struct record *rec);
/*
 * Whether it says to be a later part of this recording, and is of the same machine, boot and
 * command line.
 */
bool segment_head_follows(const struct segment_head *h, const struct live_profile *l);
int segment_head_give(const struct segment_head *h, record_fn fn, void *ctx);
void segment_head_release(struct segment_head *h);
