/*
 * What was taken out of the kernel's tables may still be read by a walk that began before. Walks on a CPU take
 * microseconds; those of an iterator may sleep, but are over when its pass is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/clock.h"

struct grace {
	uint64_t ns;			/* at least so long */
	uint64_t turn;			/* odd while an iterator passes over the tasks */
};

struct retired_at {
	uint64_t time_ns, turn;
};

static inline struct retired_at grace_begin(const struct grace *g)
{
	return (struct retired_at){ now_ns(), g->turn };
}

/* Nobody reads it any more. */
static inline bool grace_is_over(const struct grace *g, const struct retired_at *at)
{
	return at->time_ns + g->ns <= now_ns() && !(at->turn & 1 && at->turn == g->turn);
}
