/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile of a recording under way. It grows record by record and can be read at any time.
 *
 *	live_profile_new(&l)
 *	live_profile_record(l, rec) ...		a record_fn: each record that the trace writer
 *						takes or a trace reader gives
 *	live_profile_events(l, &nr)		totals by event
 *	live_profile_read(l, event, &opts, &p)	the call tree so far, for any renderer
 *	live_profile_free(l)
 *
 * Samples are counted by ids alone while records come; the call tree is made when it is read, with
 * the names known by then. Names come some time after the samples, so that a function may be shown
 * as an address now and by its name a second later.
 *
 * Nothing is ever forgotten: memory grows with definitions and with distinct {thread, stack}, 48
 * octets each, but never with samples. A REPEAT costs one addition for each thread it stands for.
 */
#pragma once

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

/*
 * The call tree of one event's samples; samples of different events have different units and are
 * never added. *pp is the caller's: profile_free(). opts may be NULL. 0 or -ENOMEM, silently.
 */
int live_profile_read(const struct live_profile *l, uint32_t event, const struct fold_options *opts,
		      struct profile **pp);
