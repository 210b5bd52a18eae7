/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user sees of a recording while it runs: rows that are written as they come (live_rows.h)
 * and the line on a terminal (live_line.h). Both take part in the capture loop by its hooks.
 *
 *	live_outputs_open(o, &args, &outputs, trace, loop)	finds out which outputs can be live
 *	live_outputs_begin(o)				writes the header, once the recording runs
 *	live_outputs_hooks(o)				for capture_loop_run()
 *	live_outputs_finish(o, is_urgent, ctx)		writes the rest and waits for readers
 *	live_outputs_release(o)
 */
#pragma once

#include <stdbool.h>

#include "src/recording/capture_loop.h"
#include "src/recording/live_line.h"
#include "formats/render/output_list.h"

struct live_rows;
struct record_args;
struct trace_file;

struct live_outputs {
	const struct record_args *args;
	struct trace_file *trace;
	struct capture_loop *loop;
	struct live_rows *rows;		/* NULL: none */
	struct live_line line;
	struct output_list later;	/* outputs that are made from the finished trace */
};

/*
 * outputs is placed and borrowed. trace must be created already; loop is only read. 0 or -errno,
 * which was reported.
 */
int live_outputs_open(struct live_outputs *o, const struct record_args *args,
		      const struct output_list *outputs, struct trace_file *trace,
		      struct capture_loop *loop);
int live_outputs_begin(struct live_outputs *o);
struct capture_hooks live_outputs_hooks(struct live_outputs *o);
bool live_outputs_over(const struct live_outputs *o);	/* every reader of rows has gone */
/* The first error; each was reported. is_urgent: readers are not waited for any longer. */
int live_outputs_finish(struct live_outputs *o, bool (*is_urgent)(void *ctx), void *ctx);
void live_outputs_release(struct live_outputs *o);	/* o may be all zero */

/* The options of the reports that this recording makes. */
struct render_opts live_outputs_render_opts(const struct record_args *args);
