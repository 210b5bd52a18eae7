/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The weight of an event by process or thread and by time: what sparklines and heat maps draw.
 *
 *	activity_sums_init(&s, &what)	0 or -ENOMEM
 *	s.rows[i].cells[0 .. columns)	the rows with most weight first
 *	activity_sums_release(&s)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/live/live_profile.h"

struct activity_wish {
	const struct live_profile *live;
	uint32_t event;
	struct live_choice which;	/* its times are not looked at */
	uint64_t from_ns, to_ns;	/* the first and the last column; a window belongs to the
					   column in which it begins */
	uint32_t columns;
	bool by_thread;			/* else by process */
};

struct activity_row {
	uint32_t id;			/* of the process or thread record */
	uint64_t weight;
	uint64_t *cells;		/* by column */
};

struct activity_sums {
	struct activity_row *rows;
	size_t nr, cap;
	uint64_t *all;			/* of all rows, by column */
	uint64_t most;			/* in one cell of a row */
	uint64_t most_all;		/* in one column */
	uint64_t weight;
};

int activity_sums_init(struct activity_sums *s, const struct activity_wish *wish);
void activity_sums_release(struct activity_sums *s);
