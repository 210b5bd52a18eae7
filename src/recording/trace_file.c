/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/trace_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/trace/trace_writer.h"
#include "src/base/clock.h"
#include "src/base/fail.h"

#define LAST_NS (80 * NSEC_PER_MSEC)	/* in which the other thread is to be done with a chunk */

void trace_file_init(struct trace_file *t, const char *path)
{
	*t = (struct trace_file){ .path = path };
	pthread_mutex_init(&t->lock, NULL);
}

/* Whether path is a device such as /dev/null, from which a trace cannot be read again. */
static bool keeps_nothing(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISCHR(st.st_mode);
}

static int make_spool(struct trace_file *t)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	if (asprintf(&t->spool, "%s/probee-XXXXXX.pbz", dir && *dir ? dir : "/tmp") < 0) {
		t->spool = NULL;
		return fail(-ENOMEM, "make a temporary trace");
	}
	fd = mkstemps(t->spool, 4);
	if (fd < 0) {
		int err = fail(-errno, "make a temporary trace %s", t->spool);

		free(t->spool);
		t->spool = NULL;
		return err;
	}
	close(fd);
	return 0;
}

int trace_file_create(struct trace_file *t, bool has_reports)
{
	int err = has_reports && keeps_nothing(t->path) ? make_spool(t) : 0;

	if (!err)
		err = trace_writer_open(trace_file_readable(t), NULL, &t->writer);
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
	if (t->spool)
		unlink(t->spool);
	if (t->writer)
		err = trace_writer_flush(t->writer);
	if (!t->writer && !t->has_end)
		return "nothing was recorded";
	return err || !t->has_end ? "the trace can be read, but it is not finished"
				  : "the trace is whole";
}

const char *trace_file_readable(const struct trace_file *t)
{
	return t->spool ? t->spool : t->path;
}

void trace_file_release(struct trace_file *t)
{
	trace_writer_close(t->writer);
	t->writer = NULL;
	if (t->spool)
		unlink(t->spool);
	free(t->spool);
	t->spool = NULL;
	pthread_mutex_destroy(&t->lock);
}
