/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the samples of a recording under way came, in an amount of memory that hardly grows.
 *
 * The problem. A view that is open all day is asked for "the last minute", "since this morning" and
 * "from here to there". To keep each sample for that takes more memory every second.
 *
 * The idea. Samples are counted (live_profile.h), and a window says how much each count grew within
 * a stretch of time. New windows last a second. When there are too many windows of one length, the
 * two oldest of them become one of twice that length. So what is recent is known to the second, and
 * what is long ago in steps that are a part of how long ago it was:
 *
 *	age		length of a window
 *	below 64 s	1 s
 *	... 128 s	2 s
 *	... 256 s	4 s
 *	1 h		32 s or 64 s
 *	1 day		1,024 s or 2,048 s
 *
 *	live_windows_add(w, time_ns, id, samples, weight) ...
 *	for (i = 0; i < w->nr; i++) ... w->v[i] ...		the oldest first
 *	live_windows_release(w)					all zero before and after
 *
 *	live_windows_rewrite(w, &how)				other ids of counts
 *
 * Limits. Memory is in proportion to the number of windows (64 and 32 more for each doubling of the
 * time: 600 after a day) and of counts that grew in each of them; live_compact.c limits these. A
 * sample that comes late is put into the window of its time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct live_growth {
	uint32_t id;			/* of the count */
	uint32_t samples;		/* what does not fit is another growth of the count */
	uint64_t weight;
};

struct live_window {
	uint64_t begin_ns, end_ns;	/* CLOCK_MONOTONIC; end excluded */
	/* A count may be there more than once. */
	struct live_growth *v;
	size_t nr, cap;
	uint8_t level;			/* it lasts 1 s << level, or longer where nothing came */
};

struct live_windows {
	struct live_window *v;		/* in the order of time; between two may be nothing */
	size_t nr, cap;
	/* By id of the count: where it is in the newest window. */
	struct live_newest {
		uint32_t serial;	/* of that window; another one: it is not there */
		uint32_t index;
	} *newest;
	size_t cap_newest;
	uint32_t serial;		/* of the newest window */
	size_t nr_growths;		/* of all windows */
};

#define LIVE_WINDOW_NS 1000000000ull

/* 0 or -ENOMEM, silently. */
int live_windows_add(struct live_windows *w, uint64_t time_ns, uint32_t id, uint32_t samples,
		     uint64_t weight);
void live_windows_release(struct live_windows *w);

/*
 * Gives each growth the id that .id_of() says, adds up those of a window that have the same one,
 * and gives back the memory that is not needed then. 0 or -ENOMEM: some windows have old ids.
 */
struct live_rewrite {
	/* Called for each window, the oldest first, before its growths. 0 or -ENOMEM. NULL: no. */
	int (*begin)(void *ctx, const struct live_window *win, size_t index);
	uint32_t (*id_of)(void *ctx, const struct live_growth *g);	/* UINT32_MAX: no memory */
	void *ctx;
};
int live_windows_rewrite(struct live_windows *w, const struct live_rewrite *how);
