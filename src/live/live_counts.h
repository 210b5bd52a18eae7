/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of counts of a live profile: samples that are alike in all but their time, by number.
 *
 *	struct live_counts c = { .nr = 0 };
 *	i = live_counts_find(&c, &key)		c.v[i] has that key
 *	live_counts_release(&c)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct live_count;

struct live_counts {
	struct live_count *v;
	size_t nr, cap;
	struct hash_index index;
};

/* Index of the count that has the key of this one, made if it is new; IX_NONE: out of memory. */
uint32_t live_counts_find(struct live_counts *c, const struct live_count *key);
void live_counts_release(struct live_counts *c);
