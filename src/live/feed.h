/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a trace into a live profile, and goes on as the trace grows.
 *
 *	feed_open(fd, name, &how, &f)	takes fd, also when it fails; prints why
 *	feed_take(f, budget_ns)		reads what has come; repeat
 *	feed_profile(f)
 *	feed_close(f)
 *
 * A file that holds several recordings shows the last one that has begun. With .frees, the
 * feed gives the memory of what it has read back to the system. That is for a trace in memory that
 * nobody else reads: it then takes no more memory after days than after minutes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct feed;
struct live_profile;
struct trace_status;

struct feed_how {
	bool is_live;			/* it may be too short to be a trace yet */
	bool frees;
};

int feed_open(int fd, const char *name, const struct feed_how *how, struct feed **fp);
void feed_close(struct feed *f);				/* NULL is fine */

/*
 * Reads for budget_ns at most. 1: records have come; 0: none; -errno, which was reported. A trace
 * that has no chunk yet has no profile.
 */
int feed_take(struct feed *f, uint64_t budget_ns);

const struct live_profile *feed_profile(const struct feed *f);	/* NULL: nothing has come yet */
bool feed_has_ended(const struct feed *f);	/* the recording wrote its END record */
bool feed_is_behind(const struct feed *f);	/* the budget was used up: there is more */
const struct trace_status *feed_status(const struct feed *f);	/* NULL likewise */
