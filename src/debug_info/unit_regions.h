/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of a unit are to be read for some addresses. Internal to src/debug_info.
 *
 * A first pass over the entries finds the code of all functions, and reads no more of them. Ranges
 * that overlap are one region, and so is what is between two regions; each address is in one of
 * them, and what is known of a region needs the functions of no other one. So those are read that
 * have code in a region with a wanted address.
 *
 *	0x1000 f   0x1040   0x1080 g, h (a part of g)   0x1100		wanted: 0x1050, 0x1090
 *		   [ read: nothing )[ read: g and h     )
 *
 *	unit_regions_add(&x, offset)		a function, in the order of the entries
 *	unit_regions_range(&x, lo, hi)		its code
 *	unit_regions_choose(&x, wanted, nr)
 *	unit_regions_leave_out(&x, lo, hi)	sorted: parts of them that were not read
 *	unit_regions_end(&x)
 *	unit_regions_release(&x)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addr_range;
struct unit_span;

struct region_func {
	uint64_t offset;		/* of its entry */
	bool is_chosen;
};

struct unit_regions {
	struct region_func *funcs;
	size_t nr_funcs, cap_funcs;
	struct unit_span *ranges;	/* node: the function's index */
	size_t nr_ranges, cap_ranges;
	struct addr_range *chosen;	/* sorted; neighbours are joined */
	size_t nr_chosen, cap_chosen;
	struct addr_range *kept;	/* while parts are left out */
	size_t nr_kept, cap_kept, at;
};

/* 0, -ENOMEM or -E2BIG, as the next ones. */
int unit_regions_add(struct unit_regions *x, uint64_t offset);
int unit_regions_range(struct unit_regions *x, uint64_t lo, uint64_t hi);
int unit_regions_choose(struct unit_regions *x, const uint64_t *wanted, size_t nr);
int unit_regions_leave_out(struct unit_regions *x, uint64_t lo, uint64_t hi);
int unit_regions_end(struct unit_regions *x);
/* Whether any of [lo, hi] is in a chosen region. */
bool unit_regions_meet(const struct unit_regions *x, uint64_t lo, uint64_t hi);
void unit_regions_release(struct unit_regions *x);
