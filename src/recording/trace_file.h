/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace file of a recording, together with the live consumers of its records.
 *
 *	trace_file_init(t, path)
 *	trace_file_place(t, files)		names the file (src/output/output_files.h)
 *	trace_file_create(t, has_reports)
 *	record_tee_add(&t->tee, ...)		adds live consumers
 *	trace_file_record(t, rec) ...		a record_fn
 *	trace_file_flush(t)			the first time, the file takes its place
 *	trace_file_begin_segment(t)		the next record is the first of another segment
 *	trace_file_finish(t)			writes the rest and closes the file; or
 *	trace_file_abandon(t)			of a recording that did not begin: leaves no file
 *	trace_file_take_reader(t)
 *	trace_file_release(t)
 *
 * One thread calls all of these. trace_file_last() may be called in another thread at any time,
 * before the process is ended by force.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/trace_output.h"
#include "src/recording/record_tee.h"

struct output_files;
struct trace_output;
struct trace_writer;

struct trace_file {
	const char *path;		/* as the user knows it */
	struct output_files *files;	/* borrowed */
	int place;			/* number of the file in there; -1: standard output */
	int memory;			/* a file that is open, instead, borrowed; -1: none */
	int reader;			/* for the reports; -1: none */
	struct trace_output output;	/* what the writer writes to: a copy */
	struct trace_writer *writer;
	struct record_tee tee;
	uint64_t file_bytes;		/* set by trace_file_finish() */
	pthread_mutex_t lock;		/* of the writer, for trace_file_last() */
	bool has_end;			/* its END has come */
	uint64_t segment_at;		/* where the last segment begins */
};

void trace_file_init(struct trace_file *t, const char *path);
int trace_file_place(struct trace_file *t, struct output_files *files);	/* explained */

/*
 * has_reports: the trace will be read again. If path keeps nothing (/dev/null), the records then go
 * to a file without a name instead. 0 or -errno, which was reported.
 */
int trace_file_create(struct trace_file *t, bool has_reports);
int trace_file_record(void *trace_file, const struct record *rec);
int trace_file_flush(void *trace_file);
int trace_file_begin_segment(void *trace_file);
uint64_t trace_file_segment_bytes(const struct trace_file *t);	/* of the last segment so far */
uint64_t trace_file_bytes(const struct trace_file *t);		/* bytes written so far */
int trace_file_finish(struct trace_file *t);
void trace_file_abandon(struct trace_file *t);

/*
 * A descriptor to read the trace from, owned by the caller: the file itself, whatever has become of
 * its name and of the right to open it. -1: there is none, which happens only
 * without has_reports.
 */
int trace_file_take_reader(struct trace_file *t);
void trace_file_release(struct trace_file *t);
/*
 * Writes what has not been written yet, if that does not take long; nothing can be written any more
 * after it. Returns a sentence about what there is of the trace.
 */
const char *trace_file_last(struct trace_file *t);
