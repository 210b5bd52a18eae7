/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells when a place in the kernel's tables may be used again.
 *
 * The problem. BPF programs unwind with tables that user space writes, and they take no lock. If
 * user space takes a table out, no stack that begins later finds it. But a stack that began before
 * may be in the middle of its rows. If these were overwritten at once, that stack would go on with
 * the rules of another file.
 *
 * The idea. What is taken out is left as it is until every program that may have begun before is
 * over. Programs come in two kinds:
 *
 *	on a CPU	The sampler and on_running do not sleep, and a stack takes microseconds.
 *			They are over after epoch.ns, which is a second.
 *	scans		The program of the iterator may sleep while memory is brought in, for
 *			longer than a second. So epoch.nr counts up when a scan begins and when it
 *			ends. It is odd during a scan, and the scan is over when it has changed.
 *
 * So user space keeps the time and the number of the moment at which it took something out
 * (epoch_retire()) and asks epoch_is_over() before it uses the place again:
 *
 *	nr	6	7 (a scan)	8
 *		  x				free after a second: the scan has begun after it
 *			x			free after a second, but not before nr is 8
 *
 * Limits. The second is not proven: a CPU that stands still for longer in the middle of a stack (a
 * paused virtual machine) may read new rows. A reader that hangs and is given up outlives its scan;
 * its rows are dropped, so it does not matter what it reads then.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/clock.h"

struct epoch {
	uint64_t ns;			/* programs on a CPU are over after so long */
	uint64_t nr;			/* odd while a scan is under way */
};

/* When something was taken out: the time and the number of that moment. */
struct retired_at {
	uint64_t time_ns, nr;
};

static inline struct retired_at epoch_retire(const struct epoch *e)
{
	return (struct retired_at){ now_ns(), e->nr };
}

/* true: no program reads any more what was taken out at that moment. */
static inline bool epoch_is_over(const struct epoch *e, const struct retired_at *at)
{
	return at->time_ns + e->ns <= now_ns() && !(at->nr & 1 && at->nr == e->nr);
}
