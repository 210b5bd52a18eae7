/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/trace_file.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/trace/trace_output.h"
#include "formats/trace/trace_writer.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/output/output_files.h"

#define LAST_NS (80 * NSEC_PER_MSEC)	/* in which the other thread is to be done with a chunk */

void trace_file_init(struct trace_file *t, const char *path)
{
	*t = (struct trace_file){ .path = path, .place = -1, .memory = -1, .reader = -1 };
	pthread_mutex_init(&t->lock, NULL);
}

int trace_file_place(struct trace_file *t, struct output_files *files)
{
	t->files = files;
	if (!strcmp(t->path, "-") || t->memory >= 0)
		return 0;
	t->place = output_files_add(files, t->path, &trace_output_kind, NULL);
	return t->place < 0 ? t->place : 0;
}

/* The reports are made from the same open file. */
static int open_reader(struct trace_file *t, struct trace_output *out)
{
	int err = 0;

	if (trace_output_keeps_nothing(out)) {
		trace_output_close(out);
		err = trace_output_spool(out);
	}
	if (err)
		return err;
	t->reader = trace_output_reader(out);
	if (t->reader >= 0)
		return 0;
	trace_output_close(out);
	return fail_why(-EINVAL, "%s leaves no trace to render from. Try: -o FILE", t->path);
}

static int open_output(struct trace_file *t, struct trace_output *out)
{
	if (t->memory >= 0)
		return trace_output_open_fd(t->memory, t->path, out);
	return t->place < 0 ? trace_output_open("-", out)
			    : trace_output_open_in(t->files, (size_t)t->place, out);
}

int trace_file_create(struct trace_file *t, bool has_reports)
{
	struct trace_writer_options opts = { .level = 0 };
	struct trace_output out;
	int err = open_output(t, &out);

	if (!err && has_reports)
		err = open_reader(t, &out);
	if (err)
		return err;
	opts.output = &out;
	t->output = out;
	err = trace_writer_open(t->path, &opts, &t->writer);
	if (!err)
		record_tee_init(&t->tee, t->writer);
	return err;
}

int trace_file_record(void *trace_file, const struct record *rec)
{
	struct trace_file *t = trace_file;
	int err;

	pthread_mutex_lock(&t->lock);
	err = record_tee_record(&t->tee, rec);
	t->has_end |= !err && rec->tag == REC_END;
	pthread_mutex_unlock(&t->lock);
	return err;
}

int trace_file_flush(void *trace_file)
{
	struct trace_file *t = trace_file;
	int err;

	pthread_mutex_lock(&t->lock);
	err = record_tee_flush(&t->tee);
	pthread_mutex_unlock(&t->lock);
	return err;
}

int trace_file_begin_segment(void *trace_file)
{
	struct trace_file *t = trace_file;
	int err;

	pthread_mutex_lock(&t->lock);
	err = record_tee_begin_segment(&t->tee);
	t->has_end = false;
	t->segment_at = trace_file_bytes(t);
	pthread_mutex_unlock(&t->lock);
	return err;
}

uint64_t trace_file_segment_bytes(const struct trace_file *t)
{
	return trace_file_bytes(t) - t->segment_at;
}

uint64_t trace_file_bytes(const struct trace_file *t)
{
	struct trace_writer_stats st;

	if (!t->writer)
		return t->file_bytes;
	trace_writer_stats(t->writer, &st);
	return st.file_bytes;
}

int trace_file_finish(struct trace_file *t)
{
	int err;

	if (!t->writer)
		return 0;
	/* Closing would flush too, but then the last chunk would be missing from file_bytes. */
	pthread_mutex_lock(&t->lock);
	err = record_tee_flush(&t->tee);
	t->file_bytes = trace_file_bytes(t);
	/* Not earlier, when all descriptors may be needed. Without it no harm is done. */
	if (t->reader < 0 && t->place >= 0)
		t->reader = trace_output_reader(&t->output);
	if (trace_writer_close(t->writer) && !err)
		err = -EIO;
	t->writer = NULL;
	pthread_mutex_unlock(&t->lock);
	return err;
}

/*
 * The live consumers belong to the other thread, so they are not told of the chunk. The lock is
 * kept: whatever that thread writes now would come too late.
 */
const char *trace_file_last(struct trace_file *t)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LAST_NS;
	until.tv_sec += until.tv_nsec / (long)NSEC_PER_SEC;
	until.tv_nsec %= (long)NSEC_PER_SEC;
	if (pthread_mutex_timedlock(&t->lock, &until))
		return "the last second of the trace is missing";
	if (t->writer)
		err = trace_writer_flush(t->writer);
	if (!t->writer && !t->has_end)
		return "nothing was recorded";
	return err || !t->has_end ? "the trace can be read, but it is not finished"
				  : "the trace is whole";
}

void trace_file_abandon(struct trace_file *t)
{
	trace_writer_abandon(t->writer);
	t->writer = NULL;
}

int trace_file_take_reader(struct trace_file *t)
{
	int fd = t->reader;

	t->reader = -1;
	return fd;
}

void trace_file_release(struct trace_file *t)
{
	trace_file_abandon(t);
	if (t->reader >= 0)
		close(t->reader);
	t->reader = -1;
	pthread_mutex_destroy(&t->lock);
}
