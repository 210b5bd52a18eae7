/*
 * Walks over all tasks at multiples of an interval, into the session of a recorder: what `probee snapshot` and
 * `probee record` share.
 *
 *	walks_open(w, recorder, &opts)
 *	walks_one(w)				a walk now, and its receipt
 *	walks_due(w)				when the next one is due, CLOCK_MONOTONIC
 *	walks_close(w)
 */
#pragma once

#include <stdint.h>

#include "src/capture/task_snapshot.h"

struct recorder;

struct walks {
	struct recorder *recorder;
	struct task_snapshot *iter;
	uint64_t interval_ns, begin_ns;
	uint32_t nr, late;		/* walked; skipped because one took longer than the interval */
	uint64_t walk_ns, rows;		/* sums */
};

/* The walks begin now: multiples of the interval count from here. */
int walks_open(struct walks *w, struct recorder *recorder, const struct task_snapshot_options *opts,
	       uint64_t interval_ns);
int walks_one(struct walks *w);
uint64_t walks_due(struct walks *w);
void walks_close(struct walks *w);	/* all zero is fine */
