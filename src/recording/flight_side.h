/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's side of a flight recorder (src/flight/flight_keeper.h): it obeys the keeper, and
 * tells it of triggers that are in the records. It takes part in the capture loop by its hooks,
 * over those of the live outputs.
 *
 *	flight_side_open(f, &args, trace, loop)	trace is created, and has no record yet
 *	flight_side_hooks(f, inner)		for capture_loop_run()
 *	flight_side_release(f)
 *
 * Without --flight the hooks are the inner ones.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/flight/row_watch.h"
#include "src/recording/capture_loop.h"

struct flight_message;
struct record_args;
struct trace_file;

/* A trigger that was seen, and that the keeper is told of in the next turn, or a little later. */
struct seen_trigger {
	uint32_t times;			/* since the last message */
	uint64_t time_ns;		/* of the first of these */
	uint64_t next_ns;		/* no message before */
	char text[128];
};

struct flight_side {
	int link;			/* borrowed; -1: there is no keeper */
	struct trace_file *trace;
	struct capture_loop *loop;
	struct capture_hooks inner;
	struct row_watch rows;
	struct seen_trigger seen[TRIGGERS_MAX];
	bool has_seen;			/* one of these */
	uint32_t part;			/* of the recording when a cut was asked for; 0: not yet */
	bool is_cut_asked, is_scan_asked, is_end_asked, is_alone;
};

void flight_side_open(struct flight_side *f, const struct record_args *args,
		      struct trace_file *trace, struct capture_loop *loop);
struct capture_hooks flight_side_hooks(struct flight_side *f, struct capture_hooks inner);
void flight_side_release(struct flight_side *f);	/* f may be all zero */
