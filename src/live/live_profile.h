/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile of a recording under way. It grows record by record and can be read at any time.
 *
 *	live_profile_new(&l)
 *	live_profile_record(l, rec) ...		a record_fn: each record that the trace writer
 *						takes or a trace reader gives
 *	live_profile_begin_part(l)		the recording goes on in another segment
 *	live_profile_events(l, &nr)		totals by event
 *	live_profile_row(l, thread)		what a thread did when it was seen last
 *	live_profile_windows(l)			when the samples came
 *	live_profile_read(l, event, &opts, &p)	the call tree so far, for any renderer
 *	live_profile_choose(l, event, &which, &opts, &p)	that of some samples
 *	live_profile_free(l)
 *
 * Samples are counted by ids alone while records come; the call tree is made when it is read, with
 * the names known by then. Names come some time after the samples, so that a function may be shown
 * as an address now and by its name a second later.
 *
 * An endless recording is written in parts, each a segment with ids of its own. The profile has ids
 * of its own for all of them (live_ids.h), so that counts and windows go on.
 *
 * Memory is bounded (live_compact.c): when there is more than struct live_limits says, rare stacks
 * of what is long ago become one, "[older stacks]", in a count of their event, activity and
 * process; threads and processes that are gone become one by name; and all that nothing refers to
 * any more is freed. Sums by event, window, activity and name of the process stay exact. All ids
 * are others then: live_profile_epoch() says that it has happened.
 *
 * A REPEAT costs one addition for each thread it stands for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct definition_store;
struct fold_options;
struct live_profile;
struct profile;

int live_profile_new(struct live_profile **lp);		/* 0 or -ENOMEM */
void live_profile_free(struct live_profile *l);		/* NULL is fine */

/* 0 or -ENOMEM, silently; after an error samples are missing, so the rest is of no use. */
int live_profile_record(void *live_profile, const struct record *rec);

int live_profile_begin_part(struct live_profile *l);	/* 0 or -ENOMEM, likewise */

struct live_limits {			/* 0: the default */
	uint32_t counts;		/* distinct {thread, stack, activity}: 80,000 */
	uint32_t growths;		/* of counts, in all windows: 240,000 */
	size_t bytes;			/* of definitions: 14 MiB */
	uint64_t recent_ns;		/* time in which nothing is folded: 180 s */
};
void live_profile_limit(struct live_profile *l, const struct live_limits *limits);
int live_profile_compact(struct live_profile *l);	/* now; 0 or -ENOMEM, likewise */
/* It has been compacted so often: ids of an earlier epoch mean nothing now. */
uint32_t live_profile_epoch(const struct live_profile *l);
/* How many samples have lost their stack. */
uint64_t live_profile_folded(const struct live_profile *l);
uint32_t live_profile_parts(const struct live_profile *l);	/* 1, 2, ... */

struct live_event {
	uint64_t samples;
	/* In the event's unit; a sample without one has the event's period */
	uint64_t weight;
};

/*
 * Totals by event id, 0 .. *nr - 1; definition_store_find_event() says what the events are.
 * Borrowed until the next record.
 */
const struct live_event *live_profile_events(const struct live_profile *l, size_t *nr);
const struct definition_store *live_profile_tables(const struct live_profile *l);

/* Which samples are looked at; all zero: all. */
struct live_choice {
	uint64_t from_ns, to_ns;	/* CLOCK_MONOTONIC; windows between; to 0: no end */
	uint32_t activities;		/* 1 << enum activity; 0: all */
	uint32_t tgid, tid;		/* 0: all */
	/*
	 * A sample weighs 3/4 of itself for each decay_ns that its window ended before now_ns, and
	 * nothing where less than one of them is left. 0: what is old weighs as much.
	 */
	uint64_t decay_ns, now_ns;
};

/* The last row of a scan that a thread (id of its record) had, borrowed; NULL: none. */
const struct rec_sample *live_profile_row(const struct live_profile *l, uint32_t thread);
uint32_t live_profile_threads(const struct live_profile *l);	/* the highest such id plus 1 */
/* The number of the newest scan, which has ended or goes on; 0: none. */
uint32_t live_profile_scan(const struct live_profile *l);

struct live_growth;
struct live_windows;
const struct live_windows *live_profile_windows(const struct live_profile *l);
/* What the samples of a count are of; thread: id of its record. */
struct live_kind {
	uint32_t event, thread;
	uint8_t activity;		/* enum activity */
};
struct live_kind live_profile_kind(const struct live_profile *l, uint32_t id);
/*
 * A count: the samples that are equal in all of this. Ids are dense, from 0 on,
 * and what a count is of never changes. Borrowed until the next record.
 */
struct live_count {
	uint32_t event, thread, kstack, ustack;
	uint8_t end;			/* enum stack_end */
	uint8_t flags;			/* SAMPLE_HAS_GUESS */
	uint8_t activity;		/* enum activity */
	uint64_t samples, weight;
};
const struct live_count *live_profile_counts(const struct live_profile *l, size_t *nr);
bool live_profile_wants(const struct live_profile *l, const struct live_choice *which,
			const struct live_kind *kind);

struct report_info;
const struct report_info *live_profile_info(const struct live_profile *l);
/* The date of a time of CLOCK_MONOTONIC. */
uint64_t live_profile_date(const struct live_profile *l, uint64_t time_ns);
/* The last value of a META key; "" without one. */
const char *live_profile_meta(const struct live_profile *l, const char *key);
/* From the first sample or clock to the last one; both 0: none. */
void live_profile_times(const struct live_profile *l, uint64_t *begin_ns, uint64_t *end_ns);

/*
 * The call tree of one event's samples; samples of different events have different units and are
 * never added. *pp is the caller's: profile_free(). opts may be NULL. 0 or -ENOMEM, silently.
 */
int live_profile_read(const struct live_profile *l, uint32_t event, const struct fold_options *opts,
		      struct profile **pp);
/* Makes a call tree of those counts that are chosen, like live_profile_read(). */
int live_profile_choose(const struct live_profile *l, uint32_t event,
			const struct live_choice *which, const struct fold_options *opts,
			struct profile **pp);
