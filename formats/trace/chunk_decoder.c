/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/chunk_decoder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "formats/trace/trace_layout.h"

/*
 * What a reader of records spends on each, in about nanoseconds: the measure of trace_reader.h's
 * limits. A row costs more than an item of a batch, because it is counted in several tables.
 */
enum { WORK_CHUNK = 2000, WORK_RECORD = 40, WORK_ITEM = 30, WORK_ROW = 60, WORK_REPEATED = 45 };

void chunk_decoder_release(struct chunk_decoder *d)
{
	record_codec_release(&d->codec);
	sample_columns_release(&d->columns);
	id_checker_release(&d->tables);
	scan_rows_release(&d->scan_rows);
	memset(d, 0, sizeof(*d));
}

void chunk_decoder_again(struct chunk_decoder *d)
{
	struct id_checker known = d->tables;

	id_checker_again(&known);
	d->tables = (struct id_checker){ .depth = NULL };
	chunk_decoder_release(d);
	d->tables = known;
	d->knows_tables = true;
}

void kept_rows_release(struct kept_rows *kept)
{
	scan_rows_release(&kept->rows);
	free(kept->in_scan);
	memset(kept, 0, sizeof(*kept));
}

int chunk_decoder_keep(const struct chunk_decoder *d, struct kept_rows *kept)
{
	size_t nr = d->tables.cap_in_scan;

	kept_rows_release(kept);
	kept->in_scan = malloc(nr ? nr : 1);
	if (!kept->in_scan || scan_rows_copy(&kept->rows, &d->scan_rows)) {
		kept_rows_release(kept);
		return -ENOMEM;
	}
	if (nr)
		memcpy(kept->in_scan, d->tables.in_scan, nr);
	kept->nr_in_scan = nr;
	kept->is_taken = true;
	return 0;
}

int chunk_decoder_resume(struct chunk_decoder *d, const struct kept_rows *kept)
{
	assert(kept->nr_in_scan <= d->tables.cap_in_scan);	/* it only grows */
	if (kept->nr_in_scan)
		memcpy(d->tables.in_scan, kept->in_scan, kept->nr_in_scan);
	return scan_rows_copy(&d->scan_rows, &kept->rows);
}

void chunk_decoder_tell(struct chunk_decoder *d)
{
	d->next_told = 0;
	d->end_told = d->scan_rows.nr_rows;
}

void chunk_decoder_begin_segment(struct chunk_decoder *d)
{
	id_checker_reset(&d->tables);
}

void chunk_decoder_lose(struct chunk_decoder *d)
{
	id_checker_lose(&d->tables);
}

void chunk_decoder_begin(struct chunk_decoder *d, const void *records, size_t len,
			 uint64_t time_base_ns)
{
	d->work += WORK_CHUNK + len / 4;
	d->records = br_make(records, len);
	d->items_left = 0;
	d->columns.nr_rows = d->next_row = 0;
	d->next_told = d->end_told = 0;
	d->repeated = 0;
	scan_rows_stop(&d->scan_rows);
	d->codec.time_base_ns = time_base_ns;
}

/* Asked before a consumer gets what would make it take the memory. */
static bool is_too_big(const struct chunk_decoder *d)
{
	return d->max_table_bytes && d->tables.bytes > d->max_table_bytes;
}

/*
 * Decodes one record of the current payload: the whole payload, or an item of it. 1, 0 (to be left
 * out), -errno.
 */
static int decode_one(struct chunk_decoder *d, struct record *rec)
{
	uint32_t *id;
	int err;

	rec->tag = d->tag;
	id = record_id(rec);
	if (id)
		*id = d->next_id;	/* of a batch; other records have their ids in them */
	err = record_decode(&d->codec, &d->payload, rec);
	if (!err)
		err = id_checker_add(&d->tables, rec);
	if (!err && is_too_big(d))
		err = -EFBIG;
	if (err)
		return err;
	d->record_count[d->tag]++;
	if ((d->tag != REC_SYMBOL || rec->symbol.frame) &&
	    (d->tag != REC_PLACE || rec->place.frame) &&
	    (d->tag != REC_THREADNAME || rec->threadname.thread))
		return 1;
	/* It is about a frame or a thread that may have been lost. */
	return d->tables.has_gaps ? 0 : -EBADMSG;
}

/*
 * Reads the head of a batch. Its count is checked against the bytes that are left before anything
 * is allocated for it.
 */
static int begin_batch(struct chunk_decoder *d)
{
	uint64_t first = record_is_definition(d->tag) ? br_uv(&d->payload) : 0;
	uint64_t n = br_uv(&d->payload);

	if (d->payload.bad || first > UINT32_MAX ||
	    n > br_left(&d->payload) / record_layout(d->tag)->nr_fields || first + n > UINT32_MAX)
		return -EBADMSG;
	d->next_id = (uint32_t)first;
	d->items_left = n;
	return 0;
}

/*
 * What is to be read of this record. Samplers' rows may be left out; those of scans, to which a
 * REPEAT may refer, may not.
 */
enum part { PART_NONE, PART_SCANS, PART_ALL };

static enum part wanted_part(const struct chunk_decoder *d)
{
	uint64_t nr, nr_scan_rows;

	if (d->skims && !sample_columns_peek(d->payload, &nr, &nr_scan_rows))
		return nr_scan_rows ? PART_SCANS : PART_NONE;
	if (!d->wants || sample_columns_peek(d->payload, &nr, &nr_scan_rows) ||
	    (nr_scan_rows && nr_scan_rows == nr) || d->wants(d->ctx, nr - nr_scan_rows))
		return PART_ALL;
	return nr_scan_rows ? PART_SCANS : PART_NONE;
}

/* Keeps the rows of a record that is not wanted. */
static int skim_rows(struct chunk_decoder *d)
{
	int err = 0;

	for (size_t i = 0; i < d->columns.nr_rows && !err; i++)
		err = scan_rows_add(&d->scan_rows, &d->columns.rows[i]);
	d->columns.nr_rows = 0;
	return err;
}

static int begin_samples(struct chunk_decoder *d)
{
	enum part part = wanted_part(d);
	bool has_scans = false;
	int err;

	if (part == PART_NONE)
		return 0;
	err = (part == PART_ALL ? sample_columns_decode : sample_columns_decode_scans)(
		&d->columns, &d->payload, d->codec.time_base_ns);
	d->next_row = 0;
	for (size_t i = 0; i < d->columns.nr_rows && !err; i++) {
		err = id_checker_add_sample(&d->tables, &d->columns.rows[i]);
		has_scans |= d->columns.rows[i].scan != 0;
	}
	d->met_scans |= has_scans;
	if (!err && has_scans && d->is_pure)
		err = -EBADMSG;
	if (!err && is_too_big(d))
		err = -EFBIG;
	if (err)
		d->columns.nr_rows = 0;
	d->record_count[REC_SAMPLE] += d->columns.nr_rows;
	d->work += d->columns.nr_rows * WORK_ROW;
	return err || !d->skims ? err : skim_rows(d);
}

static void note_time(struct chunk_decoder *d, uint64_t time_ns)
{
	if (!d->repeated || time_ns < d->first_ns)
		d->first_ns = time_ns;
	if (!d->repeated || time_ns > d->last_ns)
		d->last_ns = time_ns;
}

/* A few bytes stand for many rows, so the number of rows that a chunk may ask for is limited. */
static int begin_repeat(struct chunk_decoder *d, struct record *rec)
{
	int rc = decode_one(d, rec);

	d->met_scans = true;
	if (rc < 0)
		return rc;
	note_time(d, rec->repeat.time_ns);
	d->repeated += repeat_rows(&rec->repeat);
	if (d->repeated > MAX_REPEATED)
		return -EBADMSG;
	if (d->skims)
		return 0;
	scan_rows_repeat(&d->scan_rows, &rec->repeat);
	d->is_held = d->gives_repeats;
	return d->gives_repeats;
}

void chunk_decoder_expand(struct chunk_decoder *d)
{
	d->is_held = false;
}

int chunk_decoder_sum(struct chunk_decoder *d)
{
	d->work += repeat_rows(&d->scan_rows.repeat) / 2;
	return scan_rows_sum(&d->scan_rows, &d->tables);
}

/*
 * Begins the next record. 1: *rec is complete; 0: go on (a batch was begun, or the record is left
 * out); -errno.
 */
static int begin_record(struct chunk_decoder *d, struct record *rec)
{
	uint64_t tag = br_uv(&d->records), len = br_uv(&d->records);

	d->payload = br_sub(&d->records, len);
	if (d->records.bad)
		return -EBADMSG;
	if (d->is_pure && tag != REC_SAMPLE)
		return -EBADMSG;
	if (!record_is_known(tag)) {
		d->work += WORK_RECORD / 4;
		d->skipped_records++;
		return tag & 1 ? -EPROTONOSUPPORT : 0;
	}
	if (d->knows_tables && tag != REC_SAMPLE && tag != REC_REPEAT)
		return 0;
	d->tag = (enum record_tag)tag;
	d->work += WORK_RECORD;
	d->record_bytes[tag] += len;
	if (d->tag == REC_SAMPLE)
		return begin_samples(d);
	if (d->tag == REC_REPEAT)
		return begin_repeat(d, rec);
	if (record_layout(d->tag)->stored == STORED_BATCHED)
		return begin_batch(d);
	return decode_one(d, rec);
}

static int next_item(struct chunk_decoder *d, struct record *rec)
{
	int rc = decode_one(d, rec);

	d->work += WORK_ITEM;
	d->items_left--;
	d->next_id++;
	return rc;
}

/*
 * The next row of SAMPLES. A row of a scan replaces the thread's last one: what that one was
 * repeated comes out before it.
 */
static int next_row(struct chunk_decoder *d, struct record *rec)
{
	const struct rec_sample *row = &d->columns.rows[d->next_row];
	int err;

	rec->tag = REC_SAMPLE;
	d->again = row->scan ? scan_rows_take(&d->scan_rows, row->thread, &rec->sample) : 0;
	if (d->again)
		return 1;
	err = scan_rows_add(&d->scan_rows, row);
	if (err)
		return err;
	rec->sample = *row;
	d->next_row++;
	return 1;
}

/* The next sample of the current REPEAT. 1, 0: there is none. */
static int next_repeated(struct chunk_decoder *d, struct record *rec)
{
	if (d->is_held)
		scan_rows_stop(&d->scan_rows);
	d->is_held = false;
	if (!scan_rows_next(&d->scan_rows, &d->tables, &rec->sample))
		return 0;
	rec->tag = REC_SAMPLE;
	d->work += WORK_REPEATED;
	return 1;
}

int chunk_decoder_drain(struct chunk_decoder *d, struct record *rec)
{
	rec->tag = REC_SAMPLE;
	d->work += WORK_REPEATED;
	return scan_rows_drain(&d->scan_rows, &rec->sample, &d->again);
}

int chunk_decoder_next(struct chunk_decoder *d, struct record *rec)
{
	int rc = 0;

	d->again = 0;
	if (d->next_told < d->end_told) {
		rec->tag = REC_SAMPLE;
		rec->sample = d->scan_rows.rows[d->next_told++];
		return 1;
	}
	while (!rc) {
		if (d->next_row < d->columns.nr_rows)
			rc = next_row(d, rec);
		else if (d->scan_rows.run < d->scan_rows.repeat.nr_runs)
			rc = next_repeated(d, rec);
		else if (d->items_left)
			rc = next_item(d, rec);
		else if (br_left(&d->records))
			rc = begin_record(d, rec);
		else
			return 0;
	}
	if (rc < 0)
		chunk_decoder_begin(d, "", 0, 0);
	return rc;
}
