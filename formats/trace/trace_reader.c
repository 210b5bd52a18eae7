/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace/chunk_decoder.h"
#include "formats/trace/chunk_finder.h"
#include "formats/trace/trace_posts.h"
#include "formats/trace/trace_source.h"
#include "src/base/fail.h"

enum {
	PROBE_SIZE = 1 << 20,	/* a damaged trace may have lost this much of its beginning */
	SEGMENT_BYTES = 8 << 10,	/* memory that a consumer needs for an empty segment */
};

/* What is to be done when all rows that were repeated have come out. */
enum pending { PENDING_NOTHING, PENDING_CHUNK, PENDING_LOSS, PENDING_END };

struct trace_reader {
	char *name;
	struct trace_source source;
	struct chunk_finder finder;
	struct chunk_decoder decoder;
	uint64_t max_table_bytes, max_work;
	/* Sizes of a segment that the caller joins with others (trace_reader_keeps()). */
	uint64_t joined_bytes, kept_bytes;
	bool is_joined;
	bool has_limits;		/* the caller gave them; else they follow the size */
	bool forgets;			/* trace_reader_options */
	uint64_t past_table_bytes;	/* of earlier segments */
	uint64_t segment_offset;	/* where the current segment begins in the file */
	uint64_t chunk_offset;		/* where the current chunk begins in the file */
	uint64_t undecodable_chunks;	/* good frames whose records cannot be decoded */
	bool gives_repeats;
	trace_wants_fn wants;		/* NULL: all rows */
	void *ctx;
	/* Learnt in an earlier pass: trace_reader_know_tables(). */
	bool knows_tables, has_scans;
	bool is_misled;			/* a signpost did not tell the number of rows */
	uint64_t rows_before;		/* SAMPLES read before the current chunk */
	struct trace_posts posts;	/* of the first pass */
	/*
	 * From the first chunk with rows that are wanted to the last one. Found among the posts,
	 * or by a pass that knows the definitions; then no other signposts are looked at. With
	 * rows of scans it is found among the posts alone; the first pass that knows it skims what
	 * is before it, and keeps the last rows there for the next ones.
	 */
	struct extent extent;
	struct kept_rows kept;
	bool resumes;			/* this pass begins with them */
	bool in_chunk, at_end;
	enum pending pending;
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

/* Asks whether rows of these times are wanted. */
static bool reader_wants(const struct trace_reader *r, uint64_t first_ns, uint64_t last_ns,
			 uint64_t nr)
{
	const struct trace_rows rows = { r->status.segment, first_ns, last_ns, nr };

	return !r->wants || r->wants(r->ctx, &rows);
}

/* chunk_decoder.wants */
static bool wants_rows(void *reader, uint64_t nr)
{
	const struct trace_reader *r = reader;

	return reader_wants(r, r->finder.signpost.first_ns, r->finder.signpost.last_ns, nr);
}

/* Keeps where the current chunk lies, which was decoded. */
static void reader_post_chunk(struct trace_reader *r)
{
	const struct signpost *sp = &r->finder.signpost;
	const struct chunk_decoder *d = &r->decoder;
	struct post post = { r->chunk_offset, r->finder.offset, *sp, sp->first_ns, sp->last_ns };

	if (r->knows_tables || (!sp->nr_samples && !d->repeated))
		return;
	if (d->repeated && (!sp->nr_samples || d->first_ns < post.first_ns))
		post.first_ns = d->first_ns;
	if (d->repeated && (!sp->nr_samples || d->last_ns > post.last_ns))
		post.last_ns = d->last_ns;
	trace_posts_add(&r->posts, &post);
}

/*
 * chunk_finder.leaves_out: a chunk that has nothing but rows which are not wanted. Without rows of
 * scans, definitions that are known are nothing, too.
 */
static bool leaves_out(void *reader, const struct signpost *sp)
{
	struct trace_reader *r = reader;
	bool is_known = r->knows_tables && !r->has_scans;
	bool may_go = is_known || sp->contents == CHUNK_HAS_SAMPLES;
	uint64_t at = r->finder.offset;

	if (!may_go || ((!is_known || sp->nr_samples) &&
			reader_wants(r, sp->first_ns, sp->last_ns, sp->nr_samples)))
		return false;
	if (sp->nr_samples && !r->knows_tables)
		trace_posts_add(&r->posts, &(struct post){ at, at + SIGNPOST_SIZE + sp->data_size,
							   *sp, sp->first_ns, sp->last_ns });
	r->status.chunks++;
	r->status.raw_bytes += sp->raw_size;
	return true;
}

static void reader_limit(struct trace_reader *r, const struct trace_reader_options *opts)
{
	r->max_table_bytes = opts && opts->max_table_bytes ? opts->max_table_bytes
							   : TRACE_TABLE_BYTES(r->source.size);
	r->max_work = opts && opts->max_work ? opts->max_work : TRACE_WORK(r->source.size);
	r->has_limits = opts && (opts->max_table_bytes || opts->max_work);
	r->forgets |= opts && opts->forgets;
	r->status.file_bytes = r->source.size;
}

static int reader_start(struct trace_reader *r, const struct trace_reader_options *opts,
			struct trace_reader **rp)
{
	int err = chunk_finder_open(&r->source, &r->finder);

	r->finder.leaves_out = leaves_out;
	r->finder.ctx = r;
	reader_limit(r, opts);
	trace_posts_forget(&r->posts, true);
	err = err ? fail(err, "read %s", r->source.name) : reader_probe(r);
	if (err) {
		trace_reader_close(r);
		return err;
	}
	*rp = r;
	return 0;
}

/* fd: of the trace, open already; -1: path is opened. */
static int open_reader(int fd, const char *path, const struct trace_reader_options *opts,
		       struct trace_reader **rp)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	int err = 0;

	*rp = NULL;
	if (r)
		r->name = strdup(path);
	if (!r || !r->name) {
		if (fd >= 0)
			close(fd);
		free(r);
		return fail(-ENOMEM, "read %s", path);
	}
	if (fd >= 0)
		trace_source_open_fd(fd, r->name, &r->source);
	else
		err = trace_source_open(r->name, &r->source);
	if (!err)
		return reader_start(r, opts, rp);
	free(r->name);
	free(r);
	return err;
}

int trace_reader_open(const char *path, const struct trace_reader_options *opts,
		      struct trace_reader **rp)
{
	return open_reader(-1, path, opts, rp);
}

int trace_reader_open_fd(int fd, const char *name, const struct trace_reader_options *opts,
			 struct trace_reader **rp)
{
	return open_reader(fd, name, opts, rp);
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
	kept_rows_release(&r->kept);
	chunk_finder_close(&r->finder);
	trace_source_close(&r->source);
	trace_posts_release(&r->posts);
	free(r->name);
	free(r);
}

/* Adds a chunk to the extent if its rows are wanted. */
static void reader_extend(struct trace_reader *r, const struct post *post)
{
	if (reader_wants(r, post->first_ns, post->last_ns, post->signpost.nr_samples))
		extent_add(&r->extent, post);
}

/* The extent of a pass that knows the definitions, as far as it is known before. */
static void reader_find_extent(struct trace_reader *r)
{
	r->extent = (struct extent){ .end = 0 };
	kept_rows_release(&r->kept);
	if (!r->knows_tables || !r->posts.are_whole || (r->has_scans && !r->wants))
		return;
	r->status.segment = 0;		/* there is only one */
	for (size_t i = 0; i < r->posts.nr; i++)
		reader_extend(r, &r->posts.v[i]);
	r->extent.is_known = true;
}

/* Goes to the first chunk that must be read: of an extent, or before it to skim. -ENOMEM. */
static int reader_go(struct trace_reader *r)
{
	const struct extent *e = &r->extent;

	if (!r->has_scans || r->kept.is_taken || !e->end) {
		chunk_finder_go(&r->finder, e->begin, &e->first, e->end);
		r->resumes = r->kept.is_taken;
		return r->kept.is_taken ? chunk_decoder_resume(&r->decoder, &r->kept) : 0;
	}
	r->finder.end = e->end;
	return 0;
}

int trace_reader_rewind(struct trace_reader *r)
{
	int err;

	chunk_finder_rewind(&r->finder);
	r->resumes = false;
	if (!r->knows_tables)
		trace_posts_forget(&r->posts, !r->finder.grows);
	if (!r->extent.is_known)
		reader_find_extent(r);
	if (r->knows_tables)
		chunk_decoder_again(&r->decoder);
	else
		chunk_decoder_release(&r->decoder);
	err = r->extent.is_known ? reader_go(r) : 0;
	r->undecodable_chunks = 0;
	r->decoder.gives_repeats = r->gives_repeats;
	r->decoder.ctx = r;
	r->past_table_bytes = r->chunk_offset = 0;
	r->is_joined = false;
	r->in_chunk = r->at_end = false;
	r->pending = PENDING_NOTHING;
	r->err = 0;
	memset(&r->status, 0, sizeof(r->status));
	r->status.file_bytes = r->source.size;
	return err ? fail(err, "read %s", r->source.name) : 0;
}

/* What earlier segments have left for the definitions of this one. */
static void reader_limit_tables(struct trace_reader *r)
{
	r->decoder.max_table_bytes = r->past_table_bytes < r->max_table_bytes
					     ? r->max_table_bytes - r->past_table_bytes
					     : 1;
}

void trace_reader_follow(struct trace_reader *r)
{
	r->finder.grows = true;
	trace_posts_forget(&r->posts, false);	/* they would become more and more */
}

bool trace_reader_more(struct trace_reader *r)
{
	if (r->err || r->status.refused_bytes || !trace_source_look(&r->source))
		return false;
	r->status.file_bytes = r->source.size;
	if (!r->has_limits)
		reader_limit(r, NULL);
	reader_limit_tables(r);
	r->finder.at_end = r->at_end = false;
	return true;
}

uint64_t trace_reader_offset(const struct trace_reader *r)
{
	return r->source.base + r->finder.offset;
}

uint64_t trace_reader_segment_offset(const struct trace_reader *r)
{
	return r->source.base + r->segment_offset;
}

static void reader_begin_segment(struct trace_reader *r)
{
	struct trace_status *st = &r->status;

	if (!r->knows_tables) {
		if (!r->forgets) {
			r->past_table_bytes += SEGMENT_BYTES;
			r->past_table_bytes +=
				r->is_joined ? r->kept_bytes : r->decoder.tables.bytes;
		}
		r->is_joined = false;
		chunk_decoder_begin_segment(&r->decoder);
		reader_limit_tables(r);
	}
	r->segment_offset = r->finder.segment_offset;
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
	st->empty_segments = r->finder.empty_segments;
}

/*
 * A pass for rows of some time skims the chunks before them. With the first of them the last rows
 * of all threads before come out, and are kept for the next pass.
 */
static void reader_skim(struct trace_reader *r)
{
	const struct extent *e = &r->extent;
	bool skims = e->is_known && r->has_scans && r->chunk_offset < e->begin;

	if (!skims && (r->decoder.skims || r->resumes))
		chunk_decoder_tell(&r->decoder);
	if (!skims && r->decoder.skims && !r->finder.bad_chunks && !r->undecodable_chunks)
		(void)chunk_decoder_keep(&r->decoder, &r->kept); /* or it is skimmed again */
	r->decoder.skims = skims;
	r->resumes = false;
}

/* Begins the chunk that the finder has found. */
static void reader_begin_chunk(struct trace_reader *r)
{
	const struct chunk_finder *f = &r->finder;

	if (f->starts_segment)
		reader_begin_segment(r);
	if (f->follows_gap)
		chunk_decoder_lose(&r->decoder);
	chunk_decoder_begin(&r->decoder, f->records, f->records_len, f->head.time_base_ns);
	r->decoder.is_pure = f->signpost.contents == CHUNK_HAS_SAMPLES;
	/* leaves_out() has asked for a chunk of samples alone, unless it must stay. */
	r->decoder.wants = r->wants && (!r->decoder.is_pure || f->starts_segment || f->follows_gap)
				   ? wants_rows : NULL;
	reader_skim(r);
	if (r->knows_tables && !r->extent.is_known && f->signpost.nr_samples)
		reader_extend(r, &(struct post){ r->chunk_offset, f->offset, f->signpost,
						 f->signpost.first_ns, f->signpost.last_ns });
	r->rows_before = r->decoder.record_count[REC_SAMPLE];
	r->status.chunks++;
	r->status.raw_bytes += f->signpost.raw_size;
	r->in_chunk = true;
}

/* The file ends here for this reader: at its end, or where the limits are. */
static void reader_end(struct trace_reader *r)
{
	reader_update_status(r);
	r->extent.is_known = r->knows_tables && !r->status.bad_chunks &&
			     (r->extent.is_known || !r->has_scans);
	r->status.empty_segments += r->finder.in_segment && r->finder.is_new_segment;
	r->at_end = true;
}

/* What comes from offset on is not read. */
static int reader_stop(struct trace_reader *r, uint64_t offset)
{
	r->status.refused_bytes = r->source.size - offset;
	r->in_chunk = false;
	r->pending = PENDING_END;
	return 0;
}

/* 0, -errno. */
static int reader_next_chunk(struct trace_reader *r)
{
	const struct chunk_finder *f = &r->finder;
	int rc;

	if (r->decoder.work > r->max_work && f->offset < r->source.size)
		return reader_stop(r, f->offset);
	rc = chunk_finder_next(&r->finder);
	reader_update_status(r);
	if (rc < 0)
		return rc;
	r->chunk_offset = f->offset - (rc ? SIGNPOST_SIZE + (uint64_t)f->signpost.data_size : 0);
	if (!rc)
		r->pending = PENDING_END;
	else if (f->starts_segment || f->follows_gap)
		r->pending = PENDING_CHUNK;
	else
		reader_begin_chunk(r);
	return 0;
}

/* The end of a chunk, which the decoder reports as rc. 0: go on with the next chunk; -errno. */
static int reader_end_chunk(struct trace_reader *r, int rc)
{
	uint64_t rows;

	r->in_chunk = false;
	reader_post_chunk(r);
	rows = r->decoder.record_count[REC_SAMPLE] - r->rows_before;
	r->is_misled |= !r->wants && rows != r->finder.signpost.nr_samples;
	if (!rc)
		return 0;
	if (rc == -EPROTONOSUPPORT)
		return fail_why(rc, "%s was written by a newer probee", r->source.name);
	if (rc == -EFBIG)
		return reader_stop(r, r->chunk_offset);
	if (rc != -EBADMSG)
		return fail(rc, "read %s", r->source.name);
	r->pending = PENDING_LOSS;
	r->undecodable_chunks++;
	return 0;
}

/* 1: *rec is set; 0: the chunk has ended, or the limits are reached; -errno. */
static int reader_next_record(struct trace_reader *r, struct record *rec)
{
	int rc = chunk_decoder_next(&r->decoder, rec);

	return rc > 0 ? rc : reader_end_chunk(r, rc);
}

/* 1: *rec is a row that was repeated; 0: all have come out, and what was pending is done. */
static int reader_drain(struct trace_reader *r, struct record *rec)
{
	if (chunk_decoder_drain(&r->decoder, rec))
		return 1;
	if (r->pending == PENDING_CHUNK)
		reader_begin_chunk(r);
	if (r->pending == PENDING_LOSS)
		chunk_decoder_lose(&r->decoder);
	if (r->pending == PENDING_END)
		reader_end(r);
	r->pending = PENDING_NOTHING;
	return 0;
}

int trace_reader_next(struct trace_reader *r, struct record *rec)
{
	int rc = r->err;

	while (!rc && !r->at_end) {
		if (r->pending)
			rc = reader_drain(r, rec);
		else if (r->in_chunk)
			rc = reader_next_record(r, rec);
		else
			rc = reader_next_chunk(r);
	}
	if (rc < 0)
		r->err = rc;
	else if (rc && rec->tag == REC_END)
		r->status.has_end = true;
	return rc;
}

void trace_reader_choose(struct trace_reader *r, trace_wants_fn wants, void *ctx)
{
	if (r->wants != wants || r->ctx != ctx)
		r->extent = (struct extent){ .end = 0 };
	r->wants = wants;
	r->ctx = ctx;
}

void trace_reader_know_tables(struct trace_reader *r)
{
	const struct trace_status *st = &r->status;

	if (!r->at_end || r->err || r->is_misled || st->nr_segments != 1)
		return;
	if (st->bad_chunks || st->skipped_bytes || st->refused_bytes)
		return;
	r->knows_tables = true;
	r->has_scans |= r->decoder.met_scans;
}

void trace_reader_give_repeats(struct trace_reader *r, bool gives)
{
	r->gives_repeats = gives;
}

void trace_reader_expand(struct trace_reader *r)
{
	chunk_decoder_expand(&r->decoder);
}

int trace_reader_sum(struct trace_reader *r)
{
	return chunk_decoder_sum(&r->decoder);
}

void trace_reader_keeps(struct trace_reader *r, uint64_t all_bytes, uint64_t own_bytes)
{
	if (!r->is_joined)
		r->joined_bytes = all_bytes;
	r->is_joined = true;
	r->kept_bytes = own_bytes +
			(all_bytes > r->joined_bytes ? all_bytes - r->joined_bytes : 0);
}

const struct rec_sample *trace_reader_ahead(const struct trace_reader *r, size_t nr)
{
	return chunk_decoder_ahead(&r->decoder, nr);
}

uint32_t trace_reader_again(const struct trace_reader *r)
{
	return r->decoder.again;
}

void trace_reader_count(const struct trace_reader *r, uint64_t *rows, uint64_t *runnable)
{
	scan_rows_count(&r->decoder.scan_rows, &r->decoder.tables, rows, runnable);
}

bool trace_reader_repeats_any(const struct trace_reader *r, const uint8_t *wanted, size_t nr)
{
	return scan_rows_any(&r->decoder.scan_rows, &r->decoder.tables, wanted, nr);
}

const struct trace_status *trace_reader_status(const struct trace_reader *r)
{
	return &r->status;
}
