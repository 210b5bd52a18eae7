/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the records of a .pbz. It survives truncation and damage: whole chunks before a cut and
 * after a damaged one are read, the rest is counted.
 *
 *	trace_reader_open(path, &opts, &r)	"-": standard input, spooled to an unlinked file
 *	while ((n = trace_reader_next(r, &rec)) > 0) ...
 *	trace_reader_rewind(r)			again from the start
 *	trace_reader_close(r)
 *
 * Every record has been checked: counts against the octets left, ids ascending, references only
 * backwards, enums either known or left as they are (use the *_name() functions). A file may hold
 * several recordings one after the other (cat a.pbz b.pbz); ids are scoped to one, a segment.
 *
 * Definitions in a missing chunk are missing, too. An id may then be 0, or one that was never
 * defined although a higher one was (at most 2^20 such ids in a row). Consumers treat such a
 * reference as a missing thing.
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
 * Prints why it fails. -ENOEXEC: the file is no trace, and the message says what it looks like;
 * -EPROTONOSUPPORT: it is of a newer version; other -errno.
 */
int trace_reader_open(const char *path, const struct trace_reader_options *opts,
		      struct trace_reader **rp);

/* Reads len octets of memory, which must stay until the reader is closed. */
int trace_reader_open_memory(const void *data, size_t len, const struct trace_reader_options *opts,
			     struct trace_reader **rp);

/*
 * 1: *rec is set, and valid until the next call; 0: end of file; -errno after a message (I/O, newer
 * version).
 */
int trace_reader_next(struct trace_reader *r, struct record *rec);
int trace_reader_rewind(struct trace_reader *r);
void trace_reader_close(struct trace_reader *r);	/* NULL is fine */

/*
 * Counts are updated at the end of each chunk, so they are complete when trace_reader_next() has
 * returned 0.
 */
struct trace_status {
	uint32_t segment;		/* of the record last handed out: 0, 1, ... */
	uint32_t nr_segments;		/* number of segments met so far */
	uint64_t chunks, bad_chunks;
	uint64_t file_bytes, raw_bytes;
	uint64_t skipped_bytes;		/* octets of damage and of unknown frames */
	uint64_t skipped_records;	/* unknown ones that may be ignored */
	uint64_t lost_repeats;		/* rows of REPEATs left out because chunks are missing */
	bool truncated;			/* the file ends inside a frame */
	bool has_end;			/* the last segment has an END record */
	uint8_t uuid[16];		/* uuid of the current segment */
	uint64_t record_count[RECORD_TAGS];	/* by tag; SAMPLE: without rows of REPEATs */
	uint64_t record_bytes[RECORD_TAGS];	/* raw payload bytes by tag */
};
const struct trace_status *trace_reader_status(const struct trace_reader *r);
