/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of an entry: one range, or a list in .debug_ranges (DWARF 4, 2.17.3) or .debug_rnglists
 * (DWARF 5, 7.25).
 *
 *	it = die_ranges_begin(u, d)
 *	while (die_ranges_next(&it, &lo, &hi))
 *
 * What stands in a list and is no range counts as an empty one, so who counts them has a bound.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/bytes.h"

struct die;
struct die_unit;

struct die_ranges {
	const struct die_unit *u;
	uint64_t lo, hi;		/* if it is one range */
	bool is_one, is_list;
	struct byte_reader r;
	uint64_t base;
};

struct die_ranges die_ranges_begin(const struct die_unit *u, const struct die *d);

/* false: no more of them, or the list is damaged here. */
bool die_ranges_next(struct die_ranges *it, uint64_t *lo, uint64_t *hi);
