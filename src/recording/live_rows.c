/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/live_rows.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/render/output_list.h"
#include "formats/render/packed_output.h"
#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/output/output_files.h"
#include "src/profile/live_scans.h"
#include "src/recording/record_tee.h"

#define ROWS_AT_ONCE 4096		/* rows made into text before that text is written */
#define LOOK_MS 100			/* how often it is asked whether to wait longer */
#define ROWS_MAX (1u << 18)		/* a scan begins only while fewer rows wait */

struct live_output {
	const struct output *out;
	struct output_files *files;
	const char *name;		/* for messages */
	int fd;				/* -1: closed; borrowed */
	bool is_published;		/* it stands under its name */
	bool is_file;			/* a write never waits for a reader */
	void *state;			/* of its renderer */
	FILE *stream;			/* the renderer writes to it, and so into text */
	char *text;
	size_t size;			/* of text; set by the stream */
	size_t len, done;		/* bytes of text; how many are written */
};

struct live_rows {
	/* One for each segment whose rows are not all written; records go to the last one. */
	struct live_scans **scans;
	size_t nr_scans, cap_scans;
	struct live_output v[OUTPUT_OPTS_MAX];
	size_t nr;
	bool gone;			/* some reader has gone */
	int err;			/* the first error */
	bool (*is_urgent)(void *ctx);	/* NULL: the rest is not being written yet */
	void *ctx;
};

static int open_output(struct live_output *o, const struct output *out,
		       struct output_files *files)
{
	struct stat st;

	o->out = out;
	o->files = files;
	o->name = out->place < 0 ? "standard output" : output_files_path(files, (size_t)out->place);
	o->fd = out->place < 0 ? STDOUT_FILENO : output_files_open(files, (size_t)out->place);
	if (o->fd < 0)
		return o->fd;
	o->is_file = !fstat(o->fd, &st) && S_ISREG(st.st_mode);
	o->stream = open_memstream(&o->text, &o->size);
	return o->stream ? 0 : fail(-ENOMEM, "--%s", out->renderer->name);
}

static struct live_scans *newest(const struct live_rows *l)
{
	return l->scans[l->nr_scans - 1];
}

static int add_segment(struct live_rows *l)
{
	struct live_scans **place = array_push(&l->scans, &l->nr_scans, &l->cap_scans);
	int err = place ? live_scans_new(place) : -ENOMEM;

	if (err && place)
		l->nr_scans--;
	return err;
}

/* The first segment that has rows left, or else the last one. */
static size_t first_waiting(const struct live_rows *l)
{
	size_t i = 0;

	while (i + 1 < l->nr_scans && !live_scans_waiting(l->scans[i]))
		i++;
	return i;
}

/*
 * Frees the segments before this one. Only once it has given a row, because renderers know the
 * segment that a row is of by the address of its definitions.
 */
static void forget_before(struct live_rows *l, size_t segment)
{
	for (size_t i = 0; i < segment; i++)
		live_scans_free(l->scans[i]);
	l->nr_scans -= segment;
	memmove(l->scans, l->scans + segment, l->nr_scans * sizeof(*l->scans));
}

int live_rows_open(const struct output_list *outputs, struct live_rows **lp)
{
	struct live_rows *l = calloc(1, sizeof(*l));
	int err = l ? add_segment(l) : -ENOMEM;

	*lp = NULL;
	if (err)
		fail(err, "reports");
	for (size_t i = 0; i < outputs->nr && !err && l->nr < OUTPUT_OPTS_MAX; i++)
		if (outputs->v[i].renderer->rows && !packed_output_is(outputs->v[i].file))
			err = open_output(&l->v[l->nr++], &outputs->v[i], outputs->files);
	if (err || !l->nr)
		live_rows_close(l);
	else
		*lp = l;
	return err;
}

static void end_output(struct live_output *o)
{
	int err = 0;

	if (o->state)
		o->out->renderer->rows->end(o->state);
	o->state = NULL;
	if (o->fd >= 0 && o->out->place >= 0)
		err = output_files_close(o->files, (size_t)o->out->place);
	if (err)
		fail(err, "write %s", o->name);
	o->fd = -1;
	o->len = o->done = 0;
}

void live_rows_close(struct live_rows *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nr; i++) {
		end_output(&l->v[i]);
		if (l->v[i].stream)
			fclose(l->v[i].stream);
		free(l->v[i].text);
	}
	for (size_t i = 0; i < l->nr_scans; i++)
		live_scans_free(l->scans[i]);
	free(l->scans);
	free(l);
}

bool live_rows_has(const struct live_rows *l, const struct output *out)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].out == out)
			return true;
	return false;
}

bool live_rows_on_terminal(const struct live_rows *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].fd >= 0 && isatty(l->v[i].fd))
			return true;
	return false;
}

static bool has_reader(const struct live_rows *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].fd >= 0)
			return true;
	return false;
}

/* Ends all outputs after an error: rows are missing from now on, so none would be complete. */
static int end_all(struct live_rows *l, int err)
{
	if (err && !l->err)
		l->err = err;
	for (size_t i = 0; err && i < l->nr; i++)
		end_output(&l->v[i]);
	return err;
}

/* Rows are kept only while some output can still be written. */
static int take_record(void *live_rows, const struct record *rec)
{
	struct live_rows *l = live_rows;

	return has_reader(l) ? end_all(l, live_scans_record(newest(l), rec)) : 0;
}

static int take_chunk_end(void *live_rows)
{
	struct live_rows *l = live_rows;

	return has_reader(l) ? end_all(l, live_scans_chunk_end(newest(l))) : 0;
}

/* Nothing more is known of the rows of the segment before. */
static int take_segment(void *live_rows)
{
	struct live_rows *l = live_rows;

	live_scans_end(newest(l));
	return end_all(l, add_segment(l));
}

struct record_consumer live_rows_consumer(struct live_rows *l)
{
	return (struct record_consumer){ "rows written while it records", take_record,
					 take_chunk_end, take_segment, l };
}

/* Ends one output; the recording goes on. */
static void fail_output(struct live_rows *l, struct live_output *o, int err)
{
	if (err == -EPIPE)
		l->gone = true;
	else if (!l->err)
		l->err = err;
	if (err == -ETIMEDOUT)
		fail_why(err, "write %s: its reader does not read, and the recording is to end: "
			 "the last rows are missing", o->name);
	else if (err != -EPIPE)
		fail(err, "write %s", o->name);
	end_output(o);
}

/* Makes what the renderer wrote to the stream the text that is to be written. */
static int take_text(struct live_output *o)
{
	off_t len = ftello(o->stream);

	if (len < 0 || fflush(o->stream))
		return -ENOMEM;
	o->len = (size_t)len;
	o->done = 0;
	rewind(o->stream);
	return 0;
}

int live_rows_begin(struct live_rows *l, const struct render_opts *opts)
{
	int err = 0;

	for (size_t i = 0; i < l->nr && !err; i++) {
		struct live_output *o = &l->v[i];

		err = o->out->renderer->rows->begin(opts, live_scans_arch(l->scans[0]), o->stream,
						    &o->state);
		if (!err)
			err = take_text(o);
	}
	return err ? fail(err, "reports") : 0;
}

/*
 * 1: something may be written. 0: not now. -EPIPE: never again, because the reader has gone; that
 * is noticed also when there is nothing to write. -ETIMEDOUT: the end does not wait any longer.
 */
static int may_write(const struct live_rows *l, const struct live_output *o)
{
	bool left = o->done < o->len, wait = l->is_urgent && left;
	struct pollfd p = { .fd = o->fd, .events = left ? POLLOUT : 0 };

	while (poll(&p, 1, wait ? LOOK_MS : 0) <= 0 && wait)
		if (l->is_urgent(l->ctx))
			return -ETIMEDOUT;
	if (p.revents & POLLERR && !o->is_file)
		return -EPIPE;
	return left && p.revents;
}

/* The file takes its place. False: it cannot. */
static bool publish(struct live_rows *l, struct live_output *o)
{
	int err = 0;

	if (o->fd >= 0 && o->out->place >= 0 && !o->is_published)
		err = output_files_publish(o->files, (size_t)o->out->place);
	o->is_published = !err;
	if (err && !l->err)
		l->err = err;
	if (err)
		end_output(o);
	return !err;
}

/*
 * Writes as much as the reader takes without blocking: a pipe that poll() calls writable takes
 * PIPE_BUF bytes at once. At the end (is_urgent) all is written, even if the reader takes long.
 */
static void write_output(struct live_rows *l, struct live_output *o)
{
	int may;

	if (o->done < o->len && !publish(l, o))
		return;
	while (o->fd >= 0 && (may = may_write(l, o)) != 0) {
		size_t left = o->len - o->done;
		ssize_t n = 0;

		if (may > 0)
			n = write(o->fd, o->text + o->done,
				  o->is_file || left < PIPE_BUF ? left : PIPE_BUF);
		if (n > 0)
			o->done += (size_t)n;
		else if (may < 0 || (errno != EINTR && errno != EAGAIN))
			fail_output(l, o, may < 0 ? may : -errno);
	}
}

static int on_row(void *ctx, const struct report_sample *s)
{
	struct live_rows *l = ctx;

	for (size_t i = 0; i < l->nr; i++) {
		struct live_output *o = &l->v[i];
		int err = o->state ? o->out->renderer->rows->row(o->state, s) : 0;

		if (err)
			return err;
	}
	return 0;
}

/* Renders the next rows into the outputs' texts. False: no row is ready. */
static bool make_text(struct live_rows *l)
{
	size_t segment = first_waiting(l);
	long n = live_scans_rows(l->scans[segment], ROWS_AT_ONCE, on_row, l);
	int err = n < 0 ? (int)n : 0;

	if (n > 0)
		forget_before(l, segment);

	for (size_t i = 0; i < l->nr; i++) {
		struct live_output *o = &l->v[i];

		if (o->fd < 0)
			continue;
		if (!err && n)
			err = take_text(o);
		if (err)
			fail_output(l, o, err);
	}
	return n > 0;
}

static bool write_all(struct live_rows *l)
{
	bool done = true;

	for (size_t i = 0; i < l->nr; i++) {
		struct live_output *o = &l->v[i];

		write_output(l, o);
		done &= o->done == o->len;
	}
	return done;
}

void live_rows_write(struct live_rows *l)
{
	while (write_all(l) && make_text(l))
		;
}

size_t live_rows_fds(const struct live_rows *l, struct pollfd *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct live_output *o = &l->v[i];

		if (o->fd >= 0 && !o->is_file)
			fds[n++] = (struct pollfd){ .fd = o->fd,
						    .events = o->done < o->len ? POLLOUT : 0 };
	}
	return n;
}

bool live_rows_need_names(const struct live_rows *l)
{
	return has_reader(l) && live_scans_need_names(newest(l));
}

bool live_rows_full(const struct live_rows *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr_scans; i++)
		nr += live_scans_waiting(l->scans[i]);
	return has_reader(l) && nr >= ROWS_MAX;
}

bool live_rows_over(const struct live_rows *l)
{
	return l->gone && !has_reader(l);
}

int live_rows_finish(struct live_rows *l, bool (*is_urgent)(void *ctx), void *ctx)
{
	l->is_urgent = is_urgent;
	l->ctx = ctx;
	live_scans_end(newest(l));
	while (write_all(l) && make_text(l))
		;
	for (size_t i = 0; i < l->nr; i++)
		publish(l, &l->v[i]);	/* also if there was nothing to write */
	return l->err;
}
