/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the records of one chunk and checks them (TRACE.md 3 to 6). A REPEAT comes out as the
 * samples that it stands for.
 *
 *	chunk_decoder_begin_segment(d)
 *	chunk_decoder_begin(d, records, len, time_base_ns)
 *	while ((n = chunk_decoder_next(d, &rec)) > 0) ...
 *	chunk_decoder_release(d)
 *
 * With .gives_repeats the caller gets each REPEAT itself and decides what becomes of its rows:
 * chunk_decoder_expand() gives them one by one, chunk_decoder_sum() sums them, and without either
 * they are left out. Rows that were summed come out later, each with the number of times (.again),
 * the last of them only by chunk_decoder_drain(), which must be called to the end before
 * chunk_decoder_begin_segment() and chunk_decoder_lose().
 *
 *	chunk_decoder_again(d)		the same segment from its beginning, without its
 *					definitions, which are known: only samples come out
 *
 * Who then wants some chunks only must still know the last rows of all threads before them, to
 * which REPEATs may refer:
 *
 *	d->skims = true			before each chunk that is not wanted: nothing comes out
 *	chunk_decoder_tell(d)		behind chunk_decoder_begin() of the first one that is: these
 *					last rows come out before its own
 *	chunk_decoder_keep(d, &kept)	or a copy of them, with which a later pass begins here:
 *	chunk_decoder_resume(d, &kept)	behind chunk_decoder_again()
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/record_codec.h"
#include "formats/trace/sample_columns.h"
#include "formats/trace/id_checker.h"
#include "formats/trace/scan_rows.h"
#include "src/base/bytes.h"
#include "src/model/record.h"

/* The last rows of all threads at some place; zeroed: of none. */
struct kept_rows {
	struct scan_rows rows;
	uint8_t *in_scan;		/* as in struct id_checker */
	size_t nr_in_scan;
	bool is_taken;
};
void kept_rows_release(struct kept_rows *kept);

struct chunk_decoder {
	struct byte_reader records;	/* what follows the current record */
	struct byte_reader payload;	/* of the current record */
	enum record_tag tag;
	uint64_t items_left;		/* items of a batch that are still to come */
	uint32_t next_id;
	size_t next_row;		/* index into columns.rows */
	uint64_t repeated;		/* rows that the REPEATs of this chunk stand for */
	uint64_t first_ns, last_ns;	/* times of these, if there are any */
	bool skims;			/* see above */
	size_t next_told, end_told;	/* last rows that are to come out: of scan_rows.rows */
	bool gives_repeats;
	bool knows_tables;		/* chunk_decoder_again() */
	bool is_pure;			/* the chunk says that it has nothing but samples */
	/*
	 * Asked before rows come out to which no REPEAT may refer, nr of a record: false leaves
	 * them out. NULL: all come out.
	 */
	bool (*wants)(void *ctx, uint64_t nr);
	void *ctx;
	bool is_held;			/* the rows of the current REPEAT were not asked for yet */
	/* 0: the sample that came out last is one of its own; else so many more are like it. */
	uint32_t again;

	struct record_codec codec;
	struct sample_columns columns;
	struct id_checker tables;
	struct scan_rows scan_rows;

	/* Counted since the decoder was zeroed. */
	uint64_t max_table_bytes;	/* of .tables; 0: no limit */
	uint64_t work;			/* what decoding has cost, in about nanoseconds */
	bool met_scans;			/* rows of scans, or REPEATs */
	uint64_t skipped_records;
	uint64_t record_count[RECORD_TAGS];
	uint64_t record_bytes[RECORD_TAGS];
};
void chunk_decoder_release(struct chunk_decoder *d);

void chunk_decoder_begin_segment(struct chunk_decoder *d);	/* forgets all definitions */
void chunk_decoder_again(struct chunk_decoder *d);	/* zeroes all else */
void chunk_decoder_tell(struct chunk_decoder *d);
/* 0 or -ENOMEM. */
int chunk_decoder_keep(const struct chunk_decoder *d, struct kept_rows *kept);
int chunk_decoder_resume(struct chunk_decoder *d, const struct kept_rows *kept);
void chunk_decoder_lose(struct chunk_decoder *d);	/* chunks are missing before the next one */
void chunk_decoder_begin(struct chunk_decoder *d, const void *records, size_t len,
			 uint64_t time_base_ns);

/*
 * 1: *rec is set, and valid until the next call; 0: end of the chunk; -EBADMSG: the rest of the
 * chunk is damaged; -EPROTONOSUPPORT: it holds something critical that is unknown; -EFBIG: its
 * definitions need more than .max_table_bytes; -ENOMEM. Silent.
 */
int chunk_decoder_next(struct chunk_decoder *d, struct record *rec);

/* The row that comes out nr rows after the last one; NULL: it is in another record. */
static inline const struct rec_sample *chunk_decoder_ahead(const struct chunk_decoder *d, size_t nr)
{
	size_t at = d->next_row + nr - 1;

	return at < d->columns.nr_rows ? &d->columns.rows[at] : NULL;
}

/* Has the samples of the last REPEAT come out, or only counts them. */
void chunk_decoder_expand(struct chunk_decoder *d);
int chunk_decoder_sum(struct chunk_decoder *d);		/* 0 or -ENOMEM */

/* 1: *rec is a row that was repeated .again times; 0: none is left. */
int chunk_decoder_drain(struct chunk_decoder *d, struct record *rec);
