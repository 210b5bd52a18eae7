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
 * Every record has been checked: counts against the bytes left, ids ascending, references only
 * backwards, enums either known or left as they are (use the *_name() functions). A file may hold
 * several recordings one after the other (cat a.pbz b.pbz); ids are scoped to one, a segment.
 *
 * Definitions in a missing chunk are missing, too. An id may then be 0, or one that was never
 * defined although a higher one was (at most 2^20 such ids in a row). Consumers treat such a
 * reference as a missing thing.
 *
 * REPEAT does not come out: the samples it stands for do, one REC_SAMPLE for each thread. Those
 * whose last row may have been in a missing chunk are left out and counted. Who only counts samples
 * can have them much faster: trace_reader_give_repeats().
 *
 * A small file can stand for any number of records and any amount of memory. So what one pass costs
 * is limited in proportion to the size of the file. Where a limit is reached, the file ends as if
 * it were cut there, and .refused_bytes says how much of it was not read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"

struct trace_reader;

struct trace_reader_options {
	/* For the definitions of all segments; 0: TRACE_TABLE_BYTES of the size of the file. */
	uint64_t max_table_bytes;
	uint64_t max_work;	/* of a pass, in about nanoseconds; 0: TRACE_WORK likewise */
	/* The caller forgets a segment when the next one begins: the limit of tables is of each. */
	bool forgets;
};

/*
 * Real traces stay below: a sample is some 60 ns of work and at least two bytes, as its time is
 * never quite regular; a recording of many threads that sleep for hours has most rows for its size,
 * and REPEATs that are summed cost half a nanosecond for each of them.
 */
#define TRACE_WORK(size) (250000000ull + 32 * (size))
#define TRACE_TABLE_BYTES(size) ((112ull << 20) + (size))

/*
 * Prints why it fails. -ENOEXEC: the file is no trace, and the message says what it looks like;
 * -EPROTONOSUPPORT: it is of a newer version; other -errno.
 */
int trace_reader_open(const char *path, const struct trace_reader_options *opts,
		      struct trace_reader **rp);

/* A file that is open already; the descriptor is closed also when this fails. */
int trace_reader_open_fd(int fd, const char *name, const struct trace_reader_options *opts,
			 struct trace_reader **rp);

/* Reads len bytes of memory, which must stay until the reader is closed. */
int trace_reader_open_memory(const void *data, size_t len, const struct trace_reader_options *opts,
			     struct trace_reader **rp);

/*
 * 1: *rec is set, and valid until the next call; 0: end of file; -errno after a message (I/O, newer
 * version).
 */
int trace_reader_next(struct trace_reader *r, struct record *rec);
int trace_reader_rewind(struct trace_reader *r);

/*
 * For a file that is still being written, called before anything is read: what is not whole at its
 * end is no damage. trace_reader_next() returns 0 when it has read what is there. After
 * trace_reader_more(), which says whether there is more by now, it goes on.
 */
void trace_reader_follow(struct trace_reader *r);
bool trace_reader_more(struct trace_reader *r);
/* The file up to here was read and will not be needed again, unless the reader is rewound. */
uint64_t trace_reader_offset(const struct trace_reader *r);
/*
 * Where the segment begins of which the last record was. From there on the file is a trace, too, if
 * its IDENT was not lost.
 */
uint64_t trace_reader_segment_offset(const struct trace_reader *r);

/*
 * From the next trace_reader_rewind() on, REC_REPEAT comes out. Its rows are left out unless one of
 * these is called before trace_reader_next():
 *
 *	trace_reader_expand(r)	its samples come out next
 *	trace_reader_sum(r)	they are only counted. Sooner or later, before the next segment at
 *				the latest, a row that was repeated comes out once more, and
 *				trace_reader_again() says how often: that many samples are like it
 *				but for time and scan. 0 or -ENOMEM, silently
 */
void trace_reader_give_repeats(struct trace_reader *r, bool gives);
void trace_reader_expand(struct trace_reader *r);
int trace_reader_sum(struct trace_reader *r);

/*
 * Who wants samples of some seconds only need not read all others. From the next
 * trace_reader_rewind() on, wants is asked before rows of SAMPLES come out to which no REPEAT may
 * refer (those of samplers are such). Rows for which it says false do not come out; if they have a
 * chunk of their own, it is not even looked at, so damage in it is not noticed. Once the tables are
 * known (below), rows of scans and REPEATs are asked for as well: of those before the first and
 * behind the last row that is wanted only the last one of each thread before the first comes out,
 * to which REPEATs may refer. What it says must stay the same until another function or ctx is
 * chosen. NULL: all are read.
 */
struct trace_rows {
	uint32_t segment;
	uint64_t first_ns, last_ns;	/* CLOCK_MONOTONIC: no row is said to be before or after */
	uint64_t nr;
};
typedef bool (*trace_wants_fn)(void *ctx, const struct trace_rows *rows);
void trace_reader_choose(struct trace_reader *r, trace_wants_fn wants, void *ctx);

/*
 * After a pass to the end: the next ones give REC_SAMPLE and REC_REPEAT only, because the caller
 * has all else; so they are faster. Without effect if the trace is damaged, has several segments or
 * was not read to the end.
 */
void trace_reader_know_tables(struct trace_reader *r);

/*
 * The caller joins the definitions of this segment with those that it has of the segments before.
 * Then it needs less memory for them than a segment of its own would: bytes of all definitions of
 * the recording, and besides for this segment. Called while the segment is read, the last time
 * counts.
 */
void trace_reader_keeps(struct trace_reader *r, uint64_t all_bytes, uint64_t own_bytes);

/*
 * The sample that comes out nr records later, valid until the next call of trace_reader_next(), for
 * those who fetch memory before they need it. NULL: it is not known yet.
 */
const struct rec_sample *trace_reader_ahead(const struct trace_reader *r, size_t nr);

/* 0: the REC_SAMPLE that came out last is a sample of its own; see above. */
uint32_t trace_reader_again(const struct trace_reader *r);

/* Counts the last REC_REPEAT's rows, and those of them that run or are ready to. */
void trace_reader_count(const struct trace_reader *r, uint64_t *rows, uint64_t *runnable);
/* Whether one of its rows is of a thread whose byte in wanted[0 .. nr) is not 0. */
bool trace_reader_repeats_any(const struct trace_reader *r, const uint8_t *wanted, size_t nr);
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
	uint32_t empty_segments;	/* of which the file has no chunk, known at its end */
	uint64_t skipped_bytes;		/* bytes of damage and of unknown frames */
	uint64_t refused_bytes;		/* bytes at the end of the file: beyond the limits */
	uint64_t skipped_records;	/* unknown ones that may be ignored */
	uint64_t lost_repeats;		/* rows of REPEATs left out because chunks are missing */
	bool truncated;			/* the file ends inside a frame */
	bool has_end;			/* the last segment has an END record */
	uint8_t uuid[16];		/* uuid of the current segment */
	uint64_t record_count[RECORD_TAGS];	/* by tag; SAMPLE: without rows of REPEATs */
	uint64_t record_bytes[RECORD_TAGS];	/* raw payload bytes by tag */
};
const struct trace_status *trace_reader_status(const struct trace_reader *r);
