/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/live_outputs.h"

#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/capture/recorder.h"
#include "src/capture/session/session.h"
#include "src/recording/live_rows.h"
#include "src/recording/record_options.h"
#include "src/recording/trace_file.h"

#define LINE_NS (200 * NSEC_PER_MSEC)	/* how often the line on a terminal is renewed */
#define NAMES_NS (10 * NSEC_PER_MSEC)	/* how often rows look for names that they wait for */
#define FULL_NS (200 * NSEC_PER_MSEC)	/* how often a slow reader is looked at */

_Static_assert(HOOK_FDS >= OUTPUT_OPTS_MAX, "each output may be waited for");

struct render_opts live_outputs_render_opts(const struct record_args *args)
{
	struct render_opts opts = args->render;

	opts.quiet = args->quiet;
	return opts;
}

/*
 * Live rows are those of scans, one scan after the other. Beside a sampler there are none: the rows
 * of a scan would have to wait for the samples that belong before them.
 */
static int open_rows(struct live_outputs *o, const struct output_list *outputs)
{
	struct record_consumer rows;
	int err = 0;

	if (o->args->capture.scan_is_all)
		err = live_rows_open(outputs, &o->rows);
	if (err || !o->rows)
		return err;
	rows = live_rows_consumer(o->rows);
	record_tee_add(&o->trace->tee, &rows);
	return 0;
}

int live_outputs_open(struct live_outputs *o, const struct record_args *args,
		      const struct output_list *l, struct trace_file *trace,
		      struct capture_loop *loop)
{
	bool is_shown = !args->quiet && strcmp(trace->path, "-") && trace->memory < 0 &&
			isatty(STDERR_FILENO);
	int err;

	*o = (struct live_outputs){ .args = args, .trace = trace, .loop = loop };
	err = open_rows(o, l);
	for (size_t i = 0; i < l->nr && !err; i++)
		if (!o->rows || !live_rows_has(o->rows, &l->v[i]))
			err = output_list_add_placed(&o->later, l, &l->v[i]);
	live_line_init(&o->line, is_shown && !(o->rows && live_rows_on_terminal(o->rows)));
	return err;
}

int live_outputs_begin(struct live_outputs *o)
{
	struct render_opts opts = live_outputs_render_opts(o->args);
	int err = o->rows ? live_rows_begin(o->rows, &opts) : 0;

	if (o->rows && !err)
		live_rows_write(o->rows);
	return err;
}

static size_t hook_fds(void *ctx, struct pollfd *fds)
{
	const struct live_outputs *o = ctx;

	return o->rows ? live_rows_fds(o->rows, fds) : 0;
}

static uint64_t hook_patience(void *ctx)
{
	const struct live_outputs *o = ctx;

	if (o->rows && live_rows_need_names(o->rows))
		return NAMES_NS;
	if (o->rows && live_rows_full(o->rows))
		return FULL_NS;
	return o->line.is_terminal ? LINE_NS : UINT64_MAX / 2;
}

static bool hook_is_full(void *ctx)
{
	const struct live_outputs *o = ctx;

	return o->rows && live_rows_full(o->rows);
}

bool live_outputs_over(const struct live_outputs *o)
{
	return o->rows && live_rows_over(o->rows);
}

static bool hook_is_over(void *ctx)
{
	return live_outputs_over(ctx);
}

/* After a scan: a CLOCK record dates its rows, and a flush settles their order in the file. */
static int hook_after_take(void *ctx, const struct collector *c)
{
	struct live_outputs *o = ctx;
	struct session *session = recorder_session(o->loop->recorder);
	int err;

	if (!o->rows || !c->by_scans)
		return 0;
	err = session_clock(session);
	return err ? err : trace_file_flush(o->trace);
}

static void show_line(struct live_outputs *o)
{
	struct collector_counts n;

	if (!o->line.is_terminal)
		return;
	capture_loop_counts(o->loop, &n);
	live_line_update(&o->line, &(struct live_numbers){
					   .samples_wanted = o->args->capture.sample,
					   .scans_wanted = o->args->capture.scan,
					   .samples = n.samples,
					   .scans = n.scans,
					   .lost = recorder_lost(o->loop->recorder),
					   .file_bytes = trace_file_bytes(o->trace),
				   });
}

static int hook_turn(void *ctx)
{
	struct live_outputs *o = ctx;
	int err = 0;

	show_line(o);
	if (!o->rows)
		return 0;
	if (live_rows_need_names(o->rows))
		err = session_names(recorder_session(o->loop->recorder), NULL);
	live_rows_write(o->rows);
	return err;
}

struct capture_hooks live_outputs_hooks(struct live_outputs *o)
{
	return (struct capture_hooks){
		.ctx = o,
		.fds = hook_fds,
		.patience_ns = hook_patience,
		.is_full = hook_is_full,
		.is_over = hook_is_over,
		.after_take = hook_after_take,
		.turn = hook_turn,
	};
}

int live_outputs_finish(struct live_outputs *o, bool (*is_urgent)(void *ctx), void *ctx)
{
	int err = o->rows ? live_rows_finish(o->rows, is_urgent, ctx) : 0;

	live_line_clear(&o->line);
	live_rows_close(o->rows);
	o->rows = NULL;
	return err;
}

void live_outputs_release(struct live_outputs *o)
{
	live_line_clear(&o->line);
	live_rows_close(o->rows);
	output_list_release(&o->later);
}
