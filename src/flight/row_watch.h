/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The triggers that are about what is recorded: threads in uninterruptible sleep, by the rows of
 * scans, and probes (trigger.h). It is a consumer of the recording's records.
 *
 * How long a thread has slept is in its row: since when it has not run. A scan has no new row for a
 * thread that has not run (REPEAT), so threads that sleep in this way are remembered until they
 * have another row.
 *
 *	row_watch_init(&w, &triggers, fn, ctx)
 *	row_watch_record(&w, rec) ...	a record_fn: 0 or -ENOMEM
 *	row_watch_begin_segment(&w)	ids begin at 1 again
 *	row_watch_release(&w)
 *
 * A thread is told of once for each sleep, a probe each time that it came. The first 1,024 of the
 * threads that sleep in this way at a time are watched.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/flight/trigger.h"
#include "src/model/record.h"

/* The trigger of this number came at a time; text: about it. */
typedef void (*row_watch_fn)(void *ctx, size_t number, uint64_t time_ns, const char *text);

/* A thread that sleeps and cannot be interrupted. */
struct disk_sleep {
	uint32_t thread;		/* its id in this segment; 0: its row is yet to come */
	uint32_t tid;
	uint32_t scan;			/* that has it */
	uint64_t since_ns;		/* when it ran last */
	uint32_t told;			/* a bit for each trigger */
};

_Static_assert(TRIGGERS_MAX <= 32, "disk_sleep.told has a bit for each");

struct row_watch {
	const struct trigger_list *triggers;	/* borrowed */
	row_watch_fn fn;
	void *ctx;
	bool has_d_state, has_probe;
	uint32_t names[TRIGGERS_MAX];	/* by number: the string of a probe's name; 0: not yet */
	uint32_t events[TRIGGERS_MAX];	/* likewise the event; 0: not yet */
	uint32_t *tids;			/* by id of the thread in this segment */
	size_t cap_tids;
	struct disk_sleep *v;
	size_t nr, cap;
};

void row_watch_init(struct row_watch *w, const struct trigger_list *triggers, row_watch_fn fn,
		    void *ctx);
void row_watch_release(struct row_watch *w);
bool row_watch_is_wanted(const struct row_watch *w);	/* one of the triggers is its */
int row_watch_record(void *watch, const struct record *rec);
int row_watch_begin_segment(void *watch);		/* 0 */
