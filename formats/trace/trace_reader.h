/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .pbz -> records. Survives truncation and damage: whole chunks before a cut and after a damaged
 * one are read, the rest is counted.
 *
 *	trace_reader_open(path, &r)		"-": standard input, spooled to an unlinked file
 *	while ((n = trace_reader_next(r, &rec)) > 0) ...
 *	trace_reader_rewind(r)			again from the start
 *	trace_reader_close(r)
 *
 * Every record handed out has been checked: counts against the bytes left, ids ascending,
 * references only backwards, enums either known or left as they are (use the *_name() functions). A
 * file may hold several recordings one after the other (cat a.pbz b.pbz): ids are scoped to a
 * segment.
 *
 * Where a chunk is missing, so are its definitions: an id may then be one that was never handed out
 * although it is lower than one that was (at most 2^20 in a row), or 0. Treat what is behind such
 * an id as missing.
 *
 * REPEAT never comes out: the samples it stands for do, one REC_SAMPLE for each thread. Those whose
 * last row may have been in a missing chunk are left out and counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"

struct trace_reader;

struct trace_reader_options {
	uint64_t max_table_bytes;	/* 0: 1 GiB */
};

/*
 * Prints why and returns -errno: -ENOEXEC (no trace: names what it looks like), -EPROTONOSUPPORT
 * (newer).
 */
int trace_reader_open(const char *path, const struct trace_reader_options *opts,
		      struct trace_reader **rp);

/* The same over len octets that stay where they are until the reader is closed. */
int trace_reader_open_memory(const void *data, size_t len, const struct trace_reader_options *opts,
			     struct trace_reader **rp);

/*
 * 1: *rec holds a record, valid until the next call; 0: end of file; -errno after a message (I/O,
 * newer format).
 */
int trace_reader_next(struct trace_reader *r, struct record *rec);
int trace_reader_rewind(struct trace_reader *r);
void trace_reader_close(struct trace_reader *r);	/* NULL is fine */

/*
 * Counts are brought up to date when a chunk ends, so they are complete when trace_reader_next()
 * returned 0.
 */
struct trace_status {
	uint32_t segment;		/* of the record last handed out: 0, 1, ... */
	uint32_t nr_segments;		/* met so far */
	uint64_t chunks, bad_chunks;
	uint64_t file_bytes, raw_bytes;
	uint64_t skipped_bytes;		/* of damage and of unknown frames */
	uint64_t skipped_records;	/* unknown ancillary ones */
	uint64_t lost_repeats;		/* rows of REPEATs left out because chunks are missing */
	bool truncated;			/* the file ends inside a frame */
	bool has_end;			/* the last segment has an END record */
	uint8_t uuid[16];		/* of the current segment */
	uint64_t record_count[RECORD_TAGS];	/* by tag; SAMPLE: rows of SAMPLES, without those of
					   REPEATs */
	uint64_t record_bytes[RECORD_TAGS];	/* raw payload bytes by tag */
};
const struct trace_status *trace_reader_status(const struct trace_reader *r);
