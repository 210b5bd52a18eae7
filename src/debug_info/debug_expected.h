/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses that are asked for next, by unit: what a partial table is to have (unit_table.h).
 * Internal to src/debug_info.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_index;
struct unit_table;

struct expected_addr {
	uint64_t unit, addr;
};

struct debug_expected {
	struct expected_addr *v;	/* sorted when the first unit is asked for */
	size_t nr, cap;
	bool is_sorted;
};

/* Forgets those before. 0 or -ENOMEM: none are expected. */
int debug_expected_set(struct debug_expected *x, const uint64_t *addrs, size_t nr);
void debug_expected_release(struct debug_expected *x);

struct wanted_addrs {
	uint64_t *v;			/* sorted */
	size_t nr, cap;
};

/*
 * What the table of a unit is to have: addr, what is expected, and what is in its table so far
 * (NULL: there is none). 0 or -ENOMEM. The caller frees w->v.
 */
int debug_expected_of(struct debug_expected *x, const struct debug_index *ix, uint64_t unit,
		      uint64_t addr, const struct unit_table *so_far, struct wanted_addrs *w);
