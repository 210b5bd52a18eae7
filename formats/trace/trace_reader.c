/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/chunk_decoder.h"
#include "formats/trace/chunk_finder.h"
#include "formats/trace/trace_source.h"
#include "src/base/fail.h"

#define DEFAULT_TABLE_BYTES (1ull << 30)

enum { PROBE_SIZE = 1 << 20 };	/* a damaged trace may have lost this much of its beginning */

struct trace_reader {
	char *name;
	struct trace_source source;
	struct chunk_finder finder;
	struct chunk_decoder decoder;
	uint64_t max_table_bytes;
	uint64_t undecodable_chunks;	/* good frames whose records cannot be decoded */
	bool in_chunk;
	int err;			/* stays until rewound */
	struct trace_status status;
};

/* Says what the file looks like, because it is no trace. */
static int reader_refuse(struct trace_reader *r)
{
	static const uint8_t ident_start[4] = { 0x50, 0x2a, 0x4d, 0x18 };
	uint8_t head[64];
	ssize_t n = trace_source_read(&r->source, head, sizeof(head), 0);
	const char *what;

	if (n < 0)
		return fail((int)n, "read %s", r->source.name);
	if (!n)
		return fail_why(-ENOEXEC, "%s is empty", r->source.name);
	if (n < IDENT_SIZE &&
	    !memcmp(head, ident_start,
		    (size_t)n < sizeof(ident_start) ? (size_t)n : sizeof(ident_start)))
		return fail_why(-ENOEXEC, "%s is cut off in its first %d bytes", r->source.name,
				IDENT_SIZE);
	what = trace_source_guess(head, (size_t)n);
	if (what)
		return fail_why(-ENOEXEC, "%s is %s, not a probee trace", r->source.name, what);
	return fail_why(-ENOEXEC, "%s is not a probee trace", r->source.name);
}

/* A damaged beginning is no reason to give up if there is a good frame near it. */
static int reader_probe(struct trace_reader *r)
{
	uint64_t at;
	int found = chunk_finder_probe(&r->finder, PROBE_SIZE, &at);

	return found ? (found < 0 ? found : 0) : reader_refuse(r);
}

static int reader_start(struct trace_reader *r, const struct trace_reader_options *opts,
			struct trace_reader **rp)
{
	int err = chunk_finder_open(&r->source, &r->finder);

	r->max_table_bytes =
		opts && opts->max_table_bytes ? opts->max_table_bytes : DEFAULT_TABLE_BYTES;
	r->status.file_bytes = r->source.size;
	err = err ? fail(err, "read %s", r->source.name) : reader_probe(r);
	if (err) {
		trace_reader_close(r);
		return err;
	}
	*rp = r;
	return 0;
}

int trace_reader_open(const char *path, const struct trace_reader_options *opts,
		      struct trace_reader **rp)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	int err;

	*rp = NULL;
	if (r)
		r->name = strdup(path);
	if (!r || !r->name) {
		free(r);
		return fail(-ENOMEM, "read %s", path);
	}
	err = trace_source_open(r->name, &r->source);
	if (!err)
		return reader_start(r, opts, rp);
	free(r->name);
	free(r);
	return err;
}

int trace_reader_open_memory(const void *data, size_t len, const struct trace_reader_options *opts,
			     struct trace_reader **rp)
{
	struct trace_reader *r = calloc(1, sizeof(*r));

	*rp = NULL;
	if (!r)
		return fail(-ENOMEM, "read a trace");
	trace_source_open_memory(data, len, &r->source);
	return reader_start(r, opts, rp);
}

void trace_reader_close(struct trace_reader *r)
{
	if (!r)
		return;
	chunk_decoder_release(&r->decoder);
	chunk_finder_close(&r->finder);
	trace_source_close(&r->source);
	free(r->name);
	free(r);
}

int trace_reader_rewind(struct trace_reader *r)
{
	chunk_finder_rewind(&r->finder);
	chunk_decoder_release(&r->decoder);
	r->undecodable_chunks = 0;
	r->in_chunk = false;
	r->err = 0;
	memset(&r->status, 0, sizeof(r->status));
	r->status.file_bytes = r->source.size;
	return 0;
}

static void reader_begin_segment(struct trace_reader *r)
{
	struct trace_status *st = &r->status;

	chunk_decoder_begin_segment(&r->decoder);
	st->segment = st->nr_segments++;
	st->has_end = false;
	memcpy(st->uuid, r->finder.ident.uuid, sizeof(st->uuid));
}

/* Done only at the ends of chunks, because the counts are too many to copy for each record. */
static void reader_update_status(struct trace_reader *r)
{
	struct trace_status *st = &r->status;

	_Static_assert(sizeof(st->record_count) == sizeof(r->decoder.record_count),
		       "indexed by enum record_tag");
	memcpy(st->record_count, r->decoder.record_count, sizeof(st->record_count));
	memcpy(st->record_bytes, r->decoder.record_bytes, sizeof(st->record_bytes));
	st->skipped_records = r->decoder.skipped_records;
	st->lost_repeats = r->decoder.scan_rows.left_out;
	st->bad_chunks = r->finder.bad_chunks + r->undecodable_chunks;
	st->skipped_bytes = r->finder.skipped_bytes;
	st->truncated = r->finder.truncated;
}

/* 1: the decoder has a chunk to read; 0: end of file; -errno. */
static int reader_next_chunk(struct trace_reader *r)
{
	const struct chunk_finder *f = &r->finder;
	int rc = chunk_finder_next(&r->finder);

	reader_update_status(r);
	if (rc <= 0)
		return rc;
	if (f->starts_segment)
		reader_begin_segment(r);
	if (f->follows_gap)
		chunk_decoder_lose(&r->decoder);
	chunk_decoder_begin(&r->decoder, f->records, f->records_len, f->head.time_base_ns);
	r->status.chunks++;
	r->status.raw_bytes += f->signpost.raw_size;
	r->in_chunk = true;
	return 1;
}

/* Handles the end of a chunk, which the decoder reports as rc. 0: go on with the next chunk. */
static int reader_end_chunk(struct trace_reader *r, int rc)
{
	r->in_chunk = false;
	if (!rc)
		return 0;
	if (rc == -EPROTONOSUPPORT)
		return fail_why(rc, "%s was written by a newer probee", r->source.name);
	if (rc != -EBADMSG)
		return fail(rc, "read %s", r->source.name);
	chunk_decoder_lose(&r->decoder);
	r->undecodable_chunks++;
	return 0;
}

int trace_reader_next(struct trace_reader *r, struct record *rec)
{
	int rc = r->err;

	while (!rc) {
		if (!r->in_chunk)
			rc = reader_next_chunk(r);
		if (rc < 0 || !r->in_chunk)
			break;
		rc = chunk_decoder_next(&r->decoder, rec);
		if (rc <= 0)
			rc = reader_end_chunk(r, rc);
		else if (r->decoder.tables.bytes > r->max_table_bytes)
			rc = fail_why(-EFBIG, "%s: its tables need more than %llu MiB",
				      r->source.name,
				      (unsigned long long)(r->max_table_bytes >> 20));
	}
	if (rc < 0)
		r->err = rc;
	else if (rc && rec->tag == REC_END)
		r->status.has_end = true;
	return rc;
}

const struct trace_status *trace_reader_status(const struct trace_reader *r)
{
	return &r->status;
}
