/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lines of the files of each owner have cost, and whether more may be asked about. May be
 * used by several threads.
 *
 *	struct lines_costs *c = lines_costs_new();
 *	while (lines_costs_may(c, owner)) {
 *		...ask for lines of one of the owner's files, which takes ns
 *		lines_costs_add(c, owner, ns);
 *	}
 *	lines_costs_free(c)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lines_costs;

/* NULL: out of memory. */
struct lines_costs *lines_costs_new(void);
void lines_costs_free(struct lines_costs *c);	/* c may be NULL */

/* false: no more lines of this owner's files for now; time, as of the first call, allows more. */
bool lines_costs_may(struct lines_costs *c, uint32_t owner);
void lines_costs_add(struct lines_costs *c, uint32_t owner, uint64_t ns);
