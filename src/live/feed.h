/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a trace into a live profile, and goes on as the trace grows.
 *
 *	feed_open(fd, name, &how, &f)	takes fd, also when it fails; prints why
 *	feed_take(f, budget_ns)		reads what has come; repeat
 *	feed_profile(f)
 *	feed_close(f)
 *
 * An endless recording is written in parts: a segment that META recording.part says to be the
 * second, the third, ... goes on with the profile of those before it. Any other segment is another
 * recording, and a file that holds several shows the last one that has begun. A segment that calls
 * itself a part, but is of another machine, boot or command line, or no later part, is another
 * recording, too.
 *
 * With .frees, the feed gives the memory of what it has read back to the system. That is for a
 * trace in memory that nobody else reads: it then takes no more memory after days than after
 * minutes. With .kept_bytes besides, the last segments stay, as many as are whole within so many
 * bytes, and the one that is being read in any case. feed_kept() says where they are: a trace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct feed;
struct live_limits;
struct live_profile;
struct trace_status;

struct feed_how {
	bool is_live;			/* it may be too short to be a trace yet */
	bool frees;
	uint64_t kept_bytes;		/* with .frees; 0: nothing that was read is kept */
	/* Limits of the profile, borrowed. NULL: the defaults, larger ones for a whole file. */
	const struct live_limits *limits;
};

int feed_open(int fd, const char *name, const struct feed_how *how, struct feed **fp);
void feed_close(struct feed *f);				/* NULL is fine */

/*
 * Reads for budget_ns at most. 1: records have come; 0: none; -errno, which was reported. A trace
 * that has no chunk yet has no profile.
 */
int feed_take(struct feed *f, uint64_t budget_ns);

const struct live_profile *feed_profile(const struct feed *f);	/* NULL: nothing has come yet */
/*
 * Ids of the profile's definitions and counts are valid as long as this is the same; it changes in
 * feed_take().
 */
uint32_t feed_epoch(const struct feed *f);
uint32_t feed_recordings(const struct feed *f);	/* that have begun so far; the last one is shown */
/* The recording wrote an END record, and does not go on in another segment. */
bool feed_has_ended(const struct feed *f);
bool feed_is_behind(const struct feed *f);	/* the budget was used up: there is more */
const struct trace_status *feed_status(const struct feed *f);	/* NULL likewise */

/*
 * The bytes of the file from begin to end are a trace: whole segments, the last one as far as it
 * was read. Both are 0 before anything was read, or if what is left is no segment's beginning.
 */
void feed_kept(const struct feed *f, uint64_t *begin, uint64_t *end);
