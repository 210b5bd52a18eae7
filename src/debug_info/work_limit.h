/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A limit of the CPU time that reading may take. Foreign bytes decide how much there is to read, so
 * each loop over them counts its steps, and looks at the clock after some of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/clock.h"

#define WORK_BETWEEN_LOOKS 4096		/* steps */

struct work_limit {
	uint64_t until_ns;		/* CPU time of this thread when to give up */
	uint64_t nr_steps;		/* since the last look */
	bool is_up;
};

/* Counts steps; false: the time is up. */
static inline bool work_go_on(struct work_limit *w, uint64_t nr_steps)
{
	w->nr_steps += nr_steps;
	if (w->nr_steps < WORK_BETWEEN_LOOKS)
		return !w->is_up;
	w->nr_steps = 0;
	w->is_up |= clock_ns(CLOCK_THREAD_CPUTIME_ID) >= w->until_ns;
	return !w->is_up;
}
