/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers by which the kernel side knows tables: places in its array of struct unwind_binary.
 * There are fewer of them than a long recording may meet files, so a file has one only as long as
 * it has a table, and copies of a file have that of their table. Files that never have a table
 * share UNWIND_NUMBER_NEVER. Part of the unwind loader, which gives a number back when no program
 * may read it any more (epoch.h).
 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "unwind/unwind_limits.h"

struct table_numbers {
	uint32_t nr_free;
	uint16_t free[UNWIND_NUMBERS];	/* the last one is given out next */
};

/* max: so many are given out at most; 0: all. */
static inline void table_numbers_init(struct table_numbers *n, uint32_t max)
{
	uint32_t all = UNWIND_NUMBERS - UNWIND_FIRST_NUMBER;

	n->nr_free = max && max < all ? max : all;
	for (uint32_t i = 0; i < n->nr_free; i++)
		n->free[i] = (uint16_t)(UNWIND_FIRST_NUMBER + n->nr_free - 1 - i);
}

/* 0: none is left. */
static inline uint32_t table_numbers_take(struct table_numbers *n)
{
	return n->nr_free ? n->free[--n->nr_free] : 0;
}

static inline void table_numbers_give(struct table_numbers *n, uint32_t number)
{
	assert(n->nr_free < UNWIND_NUMBERS && number >= UNWIND_FIRST_NUMBER);
	n->free[n->nr_free++] = (uint16_t)number;
}
