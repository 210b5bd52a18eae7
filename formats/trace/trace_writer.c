/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zstd.h>

#include "formats/trace/chunk_encoder.h"
#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_output.h"
#include "formats/trace/id_checker.h"
#include "src/base/fail.h"

struct trace_writer {
	char *path;			/* for messages */
	struct trace_output out;
	struct trace_writer_options opts;
	ZSTD_CCtx *zstd;
	struct chunk_encoder chunk;
	struct id_checker tables;
	/* Buffers of the one or two chunks that are being closed, kept for the next ones. */
	struct byte_buf raw, frames;
	uint64_t raw_bytes, chunks;	/* in frames */
	uint32_t segment, seq;
	struct trace_writer_stats stats;
	uint64_t samples_kept;		/* those in whole frames of the file */
	int err;			/* the first error, which every later call returns */
};

static int writer_init_zstd(struct trace_writer *w)
{
	static const struct { ZSTD_cParameter key; int value;
	} fixed[] = {
		{ZSTD_c_checksumFlag, 1},
		{ZSTD_c_contentSizeFlag, 1},
		{ZSTD_c_windowLog, WRITER_WINDOW_LOG},
	};
	size_t rc;

	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		return fail(-ENOMEM, "zstd");
	rc = ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel,
				    w->opts.level ? w->opts.level : 3);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]) && !ZSTD_isError(rc); i++)
		rc = ZSTD_CCtx_setParameter(w->zstd, fixed[i].key, fixed[i].value);
	return ZSTD_isError(rc) ? fail_why(-EINVAL, "zstd: %s", ZSTD_getErrorName(rc)) : 0;
}

/* Explains a write error to the user, except a closed pipe: its reader knows. */
static int writer_failed(struct trace_writer *w, int err)
{
	w->err = err;
	if (err == -EPIPE)
		return err;
	if (w->out.is_file && w->out.is_published)
		return fail(err, "write %s: kept %llu samples in %llu bytes", w->path,
			    (unsigned long long)w->samples_kept,
			    (unsigned long long)w->out.written);
	return fail(err, "write %s", w->path);
}

static int writer_write(struct trace_writer *w, const void *frame, size_t len)
{
	int err = trace_output_write(&w->out, frame, len);

	if (!err && w->opts.sync)
		err = trace_output_sync(&w->out);
	return err ? writer_failed(w, err) : 0;
}

/* Writes the skippable zstd frame that says which segment's chunks follow. */
static int writer_put_ident(struct trace_writer *w)
{
	struct ident id = { .major = TRACE_MAJOR, .minor = TRACE_MINOR };
	uint8_t frame[IDENT_SIZE];

	if (getrandom(id.uuid, sizeof(id.uuid), 0) != sizeof(id.uuid))
		return w->err = fail(-errno, "getrandom");
	w->segment = ident_segment(&id);
	ident_encode(frame, &id);
	return writer_write(w, frame, sizeof(frame));
}

static int take_output(struct trace_writer *w, const char *path,
		       const struct trace_writer_options *opts)
{
	if (opts)
		w->opts = *opts;
	if (!w->opts.output)
		return trace_output_open(path, &w->out);
	w->out = *w->opts.output;
	return 0;
}

/* A writer without its output yet; NULL after a message. */
static struct trace_writer *new_writer(const char *path)
{
	struct trace_writer *w = calloc(1, sizeof(*w));

	if (w)
		w->path = strdup(strcmp(path, "-") ? path : "standard output");
	if (w && w->path)
		return w;
	free(w);
	fail(-ENOMEM, "write %s", path);
	return NULL;
}

int trace_writer_open(const char *path, const struct trace_writer_options *opts,
		      struct trace_writer **wp)
{
	struct trace_writer *w = new_writer(path);
	int err;

	*wp = NULL;
	if (!w && opts && opts->output) {
		struct trace_output unused = *opts->output;

		trace_output_close(&unused);
	}
	if (!w)
		return -ENOMEM;
	err = take_output(w, path, opts);
	if (err) {
		free(w->path);
		free(w);
		return err;
	}
	err = writer_init_zstd(w);
	if (!err)
		err = writer_put_ident(w);
	if (err)
		trace_writer_abandon(w);
	else
		*wp = w;
	return err;
}

/* Appends the chunk in raw to frames, behind its signpost: all frames go out in one write. */
static int writer_compress(struct trace_writer *w, struct signpost *sp)
{
	size_t at = w->frames.nr, room = ZSTD_compressBound(w->raw.nr), n;

	if (!bb_room(&w->frames, SIGNPOST_SIZE + room))
		return w->err = fail(-ENOMEM, "write %s", w->path);
	n = ZSTD_compress2(w->zstd, w->frames.v + at + SIGNPOST_SIZE, room, w->raw.v, w->raw.nr);
	if (ZSTD_isError(n))
		return w->err = fail_why(-EIO, "write %s: zstd: %s", w->path, ZSTD_getErrorName(n));
	sp->data_size = (uint32_t)n;
	signpost_encode(w->frames.v + at, sp);
	w->frames.nr = at + SIGNPOST_SIZE + n;
	w->seq++;
	w->chunks++;
	w->raw_bytes += w->raw.nr;
	return 0;
}

typedef int (*make_chunk_fn)(struct chunk_encoder *c, struct byte_buf *out, struct signpost *sp);

/* Makes a chunk if there is to be one. */
static int writer_add_chunk(struct trace_writer *w, make_chunk_fn make)
{
	struct signpost sp = { .segment = w->segment, .seq = w->seq };
	int rc;

	w->raw.nr = 0;
	rc = make(&w->chunk, &w->raw, &sp);
	if (rc < 0)
		return w->err = fail(rc, "write %s", w->path);
	return w->raw.nr ? writer_compress(w, &sp) : 0;
}

int trace_writer_flush(struct trace_writer *w)
{
	int err;

	if (w->err || chunk_encoder_is_empty(&w->chunk))
		return w->err;
	w->frames.nr = w->chunks = w->raw_bytes = 0;
	err = writer_add_chunk(w, chunk_encoder_split);
	if (!err)
		err = writer_add_chunk(w, chunk_encoder_finish);
	if (!err)
		err = writer_write(w, w->frames.v, w->frames.nr);
	if (!err && !w->opts.whole)
		err = w->err = trace_output_publish(&w->out);
	if (err)
		return err;
	w->stats.chunks += w->chunks;
	w->stats.raw_bytes += w->raw_bytes;
	w->samples_kept = w->stats.samples;
	return 0;
}

int trace_writer_begin_segment(struct trace_writer *w)
{
	int err = trace_writer_flush(w);

	if (err)
		return err;
	id_checker_reset(&w->tables);
	w->seq = 0;
	return writer_put_ident(w);
}

int trace_writer_lose(struct trace_writer *w)
{
	int err = trace_writer_flush(w);

	if (err)
		return err;
	id_checker_lose(&w->tables);
	w->seq++;
	return 0;
}

/*
 * Catches mistakes of this program: a record that the reader would refuse must not get into a file.
 * A checker may change a record only if its segment has gaps. That of a writer has none, so that
 * nothing is lost with the copy.
 */
static int writer_check(struct trace_writer *w, const struct record *rec)
{
	struct record copy = *rec;

	if (rec->tag == REC_SAMPLE)
		return id_checker_add_sample(&w->tables, &copy.sample);
	return id_checker_add(&w->tables, &copy);
}

int trace_writer_record(void *writer, const struct record *rec)
{
	struct trace_writer *w = writer;
	int err = w->err;

	if (err)
		return err;
	err = writer_check(w, rec);
	if (!err)
		err = chunk_encoder_add(&w->chunk, rec);
	if (err == -EBADMSG)
		err = -EINVAL;
	if (err)
		return w->err = fail(err, "write %s: %s record", w->path, record_name(rec->tag));
	w->stats.records++;
	if (rec->tag == REC_SAMPLE)
		w->stats.samples++;
	else if (rec->tag == REC_REPEAT)
		w->stats.samples += repeat_rows(&rec->repeat);
	return chunk_encoder_is_full(&w->chunk) ? trace_writer_flush(w) : 0;
}

static int close_writer(struct trace_writer *w, int err)
{
	int closed = trace_output_close(&w->out);

	if (closed && !err)
		err = fail(closed, "close %s", w->path);
	ZSTD_freeCCtx(w->zstd);
	chunk_encoder_release(&w->chunk);
	id_checker_release(&w->tables);
	bb_release(&w->raw);
	bb_release(&w->frames);
	free(w->path);
	free(w);
	return err;
}

int trace_writer_close(struct trace_writer *w)
{
	int err;

	if (!w)
		return 0;
	err = trace_writer_flush(w);
	if (!err)
		err = trace_output_publish(&w->out);
	return close_writer(w, err);
}

void trace_writer_abandon(struct trace_writer *w)
{
	if (w)
		close_writer(w, w->err ? w->err : -ECANCELED);
}

void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out)
{
	*out = w->stats;
	out->file_bytes = w->out.written;
}
