/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns CLOCK_MONOTONIC times of a recording into dates, by its CLOCK records. Embedded; all zero
 * is empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_clock;

struct wall_clock {
	struct wall_mark {
		uint64_t mono_ns;
		int64_t ahead_ns;	/* CLOCK_REALTIME minus CLOCK_MONOTONIC at that time */
	} *v;
	size_t nr, cap;
};

void wall_clock_release(struct wall_clock *c);
/* 0 or -ENOMEM. A record that is older than the last one is ignored. */
int wall_clock_add(struct wall_clock *c, const struct rec_clock *rec);

/* Frees what is only needed for earlier times. */
void wall_clock_forget(struct wall_clock *c, uint64_t mono_ns);

/*
 * False: no time from first_ns to last_ns has a date from_ns <= t < to_ns. True may be wrong for
 * times between dates that were set, or very many marks.
 */
bool wall_clock_may_meet(const struct wall_clock *c, uint64_t first_ns, uint64_t last_ns,
			 uint64_t from_ns, uint64_t to_ns);

/* The date of a time, by the nearest mark; the monotonic time itself if there is no mark. */
uint64_t wall_clock_real(const struct wall_clock *c, uint64_t mono_ns);

/* Leaves at most so many clocks: of those that lie close together, every second one goes. */
void wall_clock_thin_out(struct wall_clock *c, size_t most);
