/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/row_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/output_list.h"
#include "formats/render/renderer.h"
#include "src/base/fail.h"
#include "src/output/output_files.h"
#include "src/report/report.h"

#define BUFFER_BYTES (64 << 10)

bool row_table_suits(const struct output_list *outputs)
{
	for (size_t i = 0; i < outputs->nr; i++)
		if (!outputs->v[i].renderer->rows)
			return false;
	return outputs->nr;
}

static int open_one(struct row_table *t, struct table_output *o, const struct output *output)
{
	bool is_file = output->place >= 0;
	int err = output->err;

	o->output = output;
	o->name = is_file ? output_files_path(t->outputs->files, (size_t)output->place)
			  : "standard output";
	if (!err)
		o->out = is_file ? output_list_stream(t->outputs, output, &err) : stdout;
	if (err)
		return err;
	o->buffer = is_file ? malloc(BUFFER_BYTES) : NULL;
	if (o->buffer)
		setvbuf(o->out, o->buffer, _IOFBF, BUFFER_BYTES);
	err = packed_output_open(&o->packed, output->file, o->out);
	return err ? fail(err, "--%s", output->renderer->name) : 0;
}

int row_table_open(struct row_table *t, const struct output_list *outputs)
{
	int first = 0;

	*t = (struct row_table){ .outputs = outputs };
	t->v = calloc(outputs->nr, sizeof(*t->v));
	if (!t->v)
		return fail(-ENOMEM, "reports");
	t->nr = outputs->nr;
	for (size_t i = 0; i < t->nr; i++) {
		t->v[i].err = open_one(t, &t->v[i], &outputs->v[i]);
		first = first ? first : t->v[i].err;
	}
	return row_table_is_over(t) ? first : 0;
}

bool row_table_is_over(const struct row_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!t->v[i].err)
			return false;
	return true;
}

/* A reader of standard output that has had enough is no failure. */
static void fail_output(struct table_output *o, int err)
{
	o->err = err;
	if (err == -EPIPE && o->out == stdout)
		return;
	fail(err, "write %s", o->name);
}

/* ---- one trace ---- */

static int begin_trace(struct row_table *t, struct report *rep, const struct render_opts *opts)
{
	const char *arch = report_meta(rep, "arch", NULL);
	struct render_opts here = *opts;
	struct report_limits limits;

	report_limits(rep, &limits);
	here.quiet |= t->has_header;
	t->has_header = true;
	for (size_t i = 0; i < t->nr; i++) {
		struct table_output *o = &t->v[i];
		const struct row_renderer *rows = o->output->renderer->rows;

		o->is_cut = false;
		if (o->err)
			continue;
		if (output_limit_open(&o->limit, o->packed.stream, limits.output_bytes) ||
		    rows->begin(&here, arch ? arch : "", o->limit.stream, &o->state))
			return -ENOMEM;
	}
	return 0;
}

/* Ends what this trace has of an output. Other errors than too many rows are the output's. */
static void end_rows(struct table_output *o)
{
	int err;

	if (o->state)
		o->output->renderer->rows->end(o->state);
	o->state = NULL;
	if (!o->limit.stream)
		return;
	err = output_limit_close(&o->limit);
	o->is_cut = err == -EMSGSIZE;
	if (!err && ferror(o->packed.stream))
		err = errno ? -errno : -EIO;
	if (err && err != -EMSGSIZE)
		fail_output(o, err);
}

static int end_trace(struct row_table *t, const struct report *rep, int err)
{
	struct report_limits limits;
	bool is_cut = false;

	for (size_t i = 0; i < t->nr; i++) {
		end_rows(&t->v[i]);
		is_cut |= t->v[i].is_cut;
	}
	if (!is_cut)
		return err == 1 ? 0 : err;	/* 1: give_row() ended the pass */
	report_limits(rep, &limits);
	return fail_why(-EMSGSIZE,
			"%s: its rows end after %" PRIu64 " MiB, as no recording of this size "
			"needs more. Try: --from and --to for a part of it, or --no-limits",
			report_path(rep), limits.output_bytes >> 20);
}

/* 1: no output takes rows of this trace any more. */
static int give_row(void *ctx, const struct report_sample *s)
{
	struct row_table *t = ctx;
	bool is_taken = false;

	t->rows++;
	for (size_t i = 0; i < t->nr; i++) {
		struct table_output *o = &t->v[i];
		int err = o->state ? o->output->renderer->rows->row(o->state, s) : 0;

		if (err == -ENOMEM)
			return err;
		if (o->state && (err || o->limit.err || ferror(o->limit.stream)))
			end_rows(o);
		is_taken |= o->state != NULL;
	}
	return !is_taken;
}

int row_table_add(struct row_table *t, struct report *rep, const struct render_opts *opts)
{
	int err = begin_trace(t, rep, opts);

	if (!err)
		err = opts->all_events ? report_all_samples(rep, give_row, t)
				       : report_samples(rep, give_row, t);
	err = end_trace(t, rep, err);
	return err == -ENOMEM ? fail(err, "%s", report_path(rep)) : err;
}

/* ---- the end ---- */

static int close_one(const struct row_table *t, struct table_output *o)
{
	int err = o->out ? packed_output_close(&o->packed) : 0;

	if (!o->out)
		return o->err;
	if (!o->err && !err && fflush(o->out))
		err = -errno;
	if (!o->err && err)
		fail_output(o, err);
	if (o->out == stdout) {
		if (o->err)
			__fpurge(stdout);
		clearerr(stdout);
		return o->err == -EPIPE ? 0 : o->err;
	}
	if (fclose(o->out) && !o->err)
		fail_output(o, -errno);
	if (!o->err)
		o->err = output_files_publish(t->outputs->files, (size_t)o->output->place);
	output_files_close(t->outputs->files, (size_t)o->output->place);
	return o->err;
}

int row_table_close(struct row_table *t)
{
	int first = 0;

	for (size_t i = 0; i < t->nr; i++) {
		int err = close_one(t, &t->v[i]);

		first = first ? first : err;
		free(t->v[i].buffer);
	}
	free(t->v);
	*t = (struct row_table){ 0 };
	return first;
}
