/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has come to the counts of a live profile since the last look, and when.
 *
 * The profile says of each count how much it is in all, and of each window how much each count grew
 * in it (live_windows.h). What a count has more than at the last look is what came. Its time is
 * that of the newest window that has more of it than at the last look; only the LIVE_LATEST newest
 * windows are remembered for that. So a sample that comes later than that may be put into another
 * window, but no sample is left out or counted twice.
 *
 *	live_entries_take(&e, l, base_ns, out)	what came, as ticks; 1: something, 0: nothing
 *	live_entries_all(l, base_ns, out)	all of the windows instead: a beginning for others
 *	live_entries_release(&e)		all zero before and after
 *
 * A tick is what came in one stretch of time:
 *
 *	begin		sv, seconds since base_ns
 *	length		uv, seconds
 *	runs		uv, how many follow
 *	run		counts in the order of their ids: how many ids lie between this run and the
 *			one before; how many counts it has; of each of them: number of samples;
 *			weight (0: as many times its event's period as there are samples; else
 *			weight + 1)
 *
 * So some hundred threads that sleep as before are a few bytes. Errors are -ENOMEM, silently.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LIVE_LATEST 8

struct byte_buf;
struct live_growth;
struct live_profile;

/* A window as it was at the last look. */
struct live_latest {
	uint64_t end_ns;
	struct live_growth *v;
	size_t nr, cap;
};

/* A count at the last look, and its growth since then that has no time yet. */
struct live_seen {
	uint64_t samples, weight, more_samples, more_weight;
};

struct live_entries {
	struct live_seen *seen;		/* by count */
	size_t cap_seen;
	struct live_latest latest[LIVE_LATEST];
	struct live_growth *tick;	/* that is written */
	size_t nr_tick, cap_tick;
};

int live_entries_take(struct live_entries *e, const struct live_profile *l, uint64_t base_ns,
		      struct byte_buf *out);
int live_entries_all(const struct live_profile *l, uint64_t base_ns, struct byte_buf *out);
void live_entries_release(struct live_entries *e);
