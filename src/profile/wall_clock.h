/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dates of a recording: what its CLOCK records say about CLOCK_MONOTONIC times. Embedded; all zero
 * is empty.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rec_clock;

struct wall_clock {
	struct wall_mark {
		uint64_t mono_ns;
		int64_t ahead_ns;	/* CLOCK_REALTIME minus CLOCK_MONOTONIC then */
	} *v;
	size_t nr, cap;
};

void wall_clock_release(struct wall_clock *c);
/* 0 or -ENOMEM; one from before the last is ignored */
int wall_clock_add(struct wall_clock *c, const struct rec_clock *rec);

/* Nobody asks for an earlier time any more. */
void wall_clock_forget(struct wall_clock *c, uint64_t mono_ns);

/* By the mark nearest to it; the monotonic time itself when there is none. */
uint64_t wall_clock_real(const struct wall_clock *c, uint64_t mono_ns);
