/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes records to a .pbz (TRACE.md): independent, checksummed zstd frames of at most 256 KiB or 1
 * s each.
 *
 *	trace_writer_open(path, &opts, &w)
 *	trace_writer_record(w, rec) ...		a record_fn
 *	trace_writer_flush(w)			closes the chunk now: call it each second, so that a
 *						crash loses little
 *	trace_writer_close(w)			flushes, closes, frees; returns the first error
 *
 * Within a chunk records are grouped by type, samples are sorted by time, and SCAN, LOST, NOTE and
 * END come after the samples. Where samples get a chunk of their own, it comes behind all else
 * (chunk_encoder.h). So a reader sees another order than the writer did, but every
 * definition before its use. A REPEAT keeps its place among the samples: only those between two of
 * them are sorted. A record that breaks the rules of record.h (ids ascending, references backwards)
 * is -EINVAL.
 *
 * A copy of a file that holds several recordings, or of a damaged one, calls besides
 *
 *	trace_writer_begin_segment(w)	another recording follows: ids begin at 1 again
 *	trace_writer_lose(w)		chunks are missing here: a reader of the copy counts one
 *					as lost, and may not know what is referred to (TRACE.md 6)
 *
 * After a write error (full disk, closed pipe) a regular file is cut back to its last whole frame,
 * one line says so and how much was kept, and every later call returns the same error at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct trace_output;
struct trace_writer;

struct trace_writer_options {
	int level;			/* zstd level; 0: 3 */
	bool sync;			/* fdatasync after each chunk */
	bool whole;			/* the file takes its place only when it is closed */
	/* Open already, and now the writer's, also if it cannot be made; NULL: path is opened. */
	const struct trace_output *output;
};

/*
 * path is for messages if there is opts->output; "-" is standard output. The file takes its place
 * with its first chunk, or when it is closed (trace_output.h).
 */
int trace_writer_open(const char *path, const struct trace_writer_options *opts,
		      struct trace_writer **wp);
int trace_writer_record(void *writer, const struct record *rec);
int trace_writer_flush(struct trace_writer *w);
int trace_writer_begin_segment(struct trace_writer *w);
int trace_writer_lose(struct trace_writer *w);
int trace_writer_close(struct trace_writer *w);		/* NULL is fine: 0 */
/* Closes without writing anything more. A file that has no chunk yet leaves no trace. */
void trace_writer_abandon(struct trace_writer *w);	/* NULL is fine */

struct trace_writer_stats {
	uint64_t file_bytes, raw_bytes, records;
	uint64_t samples;		/* including those that REPEATs stand for */
	uint64_t chunks;		/* closed ones, whose records are all in the file */
};
void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out);
