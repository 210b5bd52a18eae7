/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was taken out of the kernel's tables may still be read by a walk that began before. Walks on
 * a CPU take microseconds; those of an iterator may sleep, but are over when its pass is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/clock.h"

struct epoch {
	uint64_t ns;			/* at least so long */
	uint64_t nr;			/* odd while an iterator passes over the tasks */
};

struct retired_at {
	uint64_t time_ns, nr;
};

static inline struct retired_at epoch_retire(const struct epoch *g)
{
	return (struct retired_at){ now_ns(), g->nr };
}

/* Nobody reads it any more. */
static inline bool epoch_is_over(const struct epoch *g, const struct retired_at *at)
{
	return at->time_ns + g->ns <= now_ns() && !(at->nr & 1 && at->nr == g->nr);
}
