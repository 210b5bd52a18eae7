/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/chunk_finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "src/base/bytes.h"
#include "src/base/fail.h"

enum {
	WINDOW_SIZE = 64 << 10,
	/*
	 * Read at once. Chunks of a second are small. Those left out are not worth reading, unless
	 * they are so small that to read many of them takes less time than a system call for each.
	 */
	AHEAD_SIZE = 16 << 10,
	AHEAD_LEFT_OUT = 512,
	SMALL_DATA = 8 << 10,
};

int chunk_finder_open(const struct trace_source *source, struct chunk_finder *f)
{
	*f = (struct chunk_finder){
		.source = source, .zstd = ZSTD_createDCtx(), .window = malloc(WINDOW_SIZE),
		.ahead = AHEAD_SIZE, .end = UINT64_MAX};
	if (f->zstd && f->window)
		return 0;
	chunk_finder_close(f);
	return -ENOMEM;
}

void chunk_finder_rewind(struct chunk_finder *f)
{
	*f = (struct chunk_finder){
		.source = f->source, .zstd = f->zstd, .window = f->window,
		.data = f->data, .cap_data = f->cap_data, .raw = f->raw, .cap_raw = f->cap_raw,
		.leaves_out = f->leaves_out, .ctx = f->ctx, .ahead = AHEAD_SIZE, .end = UINT64_MAX,
		.grows = f->grows,
	};
}

void chunk_finder_go(struct chunk_finder *f, uint64_t offset, const struct signpost *sp,
		     uint64_t end)
{
	f->offset = offset;
	f->end = end;
	f->in_segment = f->is_new_segment = true;
	f->segment = sp->segment;
	f->next_seq = sp->seq;
}

void chunk_finder_close(struct chunk_finder *f)
{
	ZSTD_freeDCtx(f->zstd);
	free(f->window);
	free(f->data);
	free(f->raw);
	memset(f, 0, sizeof(*f));
}

static ssize_t finder_read(struct chunk_finder *f, void *buf, size_t len, uint64_t offset)
{
	ssize_t n = trace_source_read(f->source, buf, len, offset);

	return n < 0 ? fail((int)n, "read %s", f->source->name) : n;
}

/*
 * Bytes of the file by way of the window, which is filled from offset on if they are not in it.
 * Sets *at; fewer than len only at the end of the file.
 */
static ssize_t finder_look(struct chunk_finder *f, size_t len, uint64_t offset, const uint8_t **at)
{
	uint64_t skip = offset - f->window_at;
	ssize_t n;

	if (offset < f->window_at || skip + len > f->window_len) {
		n = finder_read(f, f->window, f->ahead, offset);
		f->window_at = offset;
		f->window_len = n > 0 ? (size_t)n : 0;
		skip = 0;
		if (n < 0)
			return n;
	}
	*at = f->window + skip;
	return (ssize_t)(f->window_len - skip < len ? f->window_len - skip : len);
}

/*
 * The offset of the first good IDENT or SIGNPOST in p[0..len), or len. Neither is longer than
 * SIGNPOST_SIZE.
 */
static size_t find_frame(const uint8_t *p, size_t len)
{
	static const uint8_t magic_tail[3] = { 0x2a, 0x4d, 0x18 };
	struct ident id;
	struct signpost sp;
	size_t at = 0;

	while (at + 1 < len) {
		const uint8_t *hit =
			memmem(p + at + 1, len - at - 1, magic_tail, sizeof(magic_tail));

		if (!hit)
			return len;
		at = (size_t)(hit - p) - 1;
		if (ident_decode(p + at, len - at, &id) || signpost_decode(p + at, len - at, &sp))
			return at;
		at++;
	}
	return len;
}

/*
 * Looks for the first good frame at from or later. 1: *at is its offset; 0: there is none before
 * the end or limit.
 */
static int finder_search(struct chunk_finder *f, uint64_t from, uint64_t limit, uint64_t *at)
{
	f->window_len = 0;
	while (from < limit) {
		ssize_t n = finder_read(f, f->window, WINDOW_SIZE, from);
		size_t hit;

		if (n < 0)
			return (int)n;
		hit = find_frame(f->window, (size_t)n);
		if (hit < (size_t)n) {
			*at = from + hit;
			return 1;
		}
		if (n < WINDOW_SIZE)
			break;
		from += WINDOW_SIZE - SIGNPOST_SIZE;
	}
	return 0;
}

int chunk_finder_probe(struct chunk_finder *f, uint64_t limit, uint64_t *offset)
{
	return finder_search(f, 0, limit, offset);
}

/*
 * Goes on at the first good frame at from or later; the bytes up to there are lost. 1: found; 0:
 * the file ends without one.
 */
static int finder_resync(struct chunk_finder *f, uint64_t from)
{
	uint64_t at = f->source->size;
	int found = finder_search(f, from, UINT64_MAX, &at);

	if (found < 0)
		return found;
	f->skipped_bytes += at > f->offset ? at - f->offset : 0;
	f->offset = at;
	f->at_end = !found;
	return found;
}

/*
 * True if this is one whole zstd frame as a trace may hold it: with a content size as announced,
 * with a checksum, without a dictionary.
 */
static bool data_frame_is_good(const void *data, size_t len, const struct signpost *sp)
{
	const size_t flags_at = 4;
	unsigned long long size;
	uint8_t flags;

	if (len <= flags_at || memcmp(data, "\x28\xb5\x2f\xfd", 4))
		return false;
	flags = ((const uint8_t *)data)[flags_at];
	size = ZSTD_getFrameContentSize(data, len);
	return flags & 4 && size == sp->raw_size && !ZSTD_getDictID_fromFrame(data, len) &&
	       ZSTD_findFrameCompressedSize(data, len) == len;
}

/* Makes room for the chunk that a signpost announces, whose sizes have been checked. */
static int finder_reserve(struct chunk_finder *f, const struct signpost *sp)
{
	if (sp->data_size > f->cap_data) {
		free(f->data);
		f->data = malloc(sp->data_size);
		f->cap_data = f->data ? sp->data_size : 0;
	}
	if (sp->raw_size > f->cap_raw) {
		free(f->raw);
		f->raw = malloc(sp->raw_size);
		f->cap_raw = f->raw ? sp->raw_size : 0;
	}
	return f->cap_data && f->cap_raw ? 0 : fail(-ENOMEM, "read %s", f->source->name);
}

static bool sizes_are_good(const struct signpost *sp)
{
	return sp->data_size && sp->data_size <= MAX_DATA_SIZE && sp->raw_size >= CHUNK_HEAD_SIZE &&
	       sp->raw_size <= MAX_RAW_SIZE;
}

/* The data frame at offset, in the window or in f->data, which has room for it. */
static ssize_t finder_data(struct chunk_finder *f, size_t len, uint64_t offset,
			   const uint8_t **data)
{
	if (offset >= f->window_at && offset + len <= f->window_at + f->window_len)
		return finder_look(f, len, offset, data);
	*data = f->data;
	return finder_read(f, f->data, len, offset);
}

/*
 * Reads and decompresses the data frame at offset. 1: good; 0: damaged; -errno. *is_short: the
 * frame reaches beyond the end of the file.
 */
static int finder_load(struct chunk_finder *f, const struct signpost *sp, uint64_t offset,
		       bool *is_short)
{
	const uint8_t *data;
	ssize_t n;

	if (!sizes_are_good(sp))
		return 0;
	if (finder_reserve(f, sp))
		return -ENOMEM;
	n = finder_data(f, sp->data_size, offset, &data);
	if (n < 0)
		return (int)n;
	*is_short = (size_t)n < sp->data_size;
	if (*is_short || !data_frame_is_good(data, sp->data_size, sp) ||
	    ZSTD_decompressDCtx(f->zstd, f->raw, sp->raw_size, data, sp->data_size) !=
		    sp->raw_size ||
	    !chunk_head_decode(f->raw, sp->raw_size, &f->head))
		return 0;
	return f->head.segment == sp->segment && f->head.seq == sp->seq &&
	       f->head.length == sp->raw_size - CHUNK_HEAD_SIZE;
}

static void finder_begin_segment(struct chunk_finder *f, const struct ident *id, uint32_t segment)
{
	f->empty_segments += f->in_segment && f->is_new_segment;
	f->has_ident = id != NULL;
	f->ident = id ? *id : (struct ident){ .major = 0 };
	f->in_segment = true;
	f->is_new_segment = true;
	f->has_gap = false;
	f->segment = segment;
	f->segment_offset = f->offset;
	f->next_seq = 0;
}

/*
 * Finds out to which segment a chunk belongs, and whether chunks are missing before it. False: the
 * chunk is out of order.
 */
static bool finder_place(struct chunk_finder *f, const struct signpost *sp)
{
	if (!f->in_segment || f->segment != sp->segment)	/* its segment's IDENT was lost */
		finder_begin_segment(f, NULL, sp->segment);
	if (sp->seq < f->next_seq)
		return false;
	f->bad_chunks += sp->seq - f->next_seq;
	f->has_gap |= sp->seq != f->next_seq;
	f->next_seq = (uint64_t)sp->seq + 1;
	return true;
}

static void finder_accept(struct chunk_finder *f, const struct signpost *sp)
{
	f->signpost = *sp;
	f->records = f->raw + CHUNK_HEAD_SIZE;
	f->records_len = f->head.length;
	f->starts_segment = f->is_new_segment;
	f->follows_gap = f->has_gap;
	f->is_new_segment = false;
	f->has_gap = false;
	f->offset += SIGNPOST_SIZE + (uint64_t)sp->data_size;
}

/* The first chunk of a segment, or behind a gap, tells the reader of that: it is never left out. */
static bool finder_leaves_out(struct chunk_finder *f, const struct signpost *sp)
{
	uint64_t end = f->offset + SIGNPOST_SIZE + sp->data_size;

	if (!f->leaves_out || f->is_new_segment || f->has_gap || !sizes_are_good(sp) ||
	    end > f->source->size || !f->leaves_out(f->ctx, sp))
		return false;
	f->offset = end;
	f->ahead = sp->data_size > SMALL_DATA ? AHEAD_LEFT_OUT : WINDOW_SIZE;
	return true;
}

/*
 * Takes the chunk of the good signpost at f->offset. 1: found; 0: left out, or damaged and skipped;
 * -errno.
 */
static int finder_take_chunk(struct chunk_finder *f, const struct signpost *sp)
{
	bool is_short = false, is_placed = finder_place(f, sp);
	int good, found;

	if (is_placed && finder_leaves_out(f, sp))
		return 0;
	f->ahead = AHEAD_SIZE;
	good = is_placed ? finder_load(f, sp, f->offset + SIGNPOST_SIZE, &is_short) : 0;
	if (good > 0)
		finder_accept(f, sp);
	if (good)
		return good;
	found = finder_resync(f, f->offset + SIGNPOST_SIZE);
	if (found < 0)
		return found;
	f->has_gap = true;
	if (is_short && !found)
		f->truncated = true;
	else
		f->bad_chunks++;
	return 0;
}

static int finder_take_ident(struct chunk_finder *f, const struct ident *id)
{
	if (id->major != TRACE_MAJOR || id->flags & IDENT_CRITICAL_FLAGS)
		return fail_why(-EPROTONOSUPPORT,
				"%s was written by a newer probee (trace format %u.%u)",
				f->source->name, id->major, id->minor);
	finder_begin_segment(f, id, ident_segment(id));
	f->offset += IDENT_SIZE;
	return 0;
}

/* Whole size of a skippable frame of another program that lies in the file; else 0. */
static uint64_t foreign_frame_size(const struct chunk_finder *f, const uint8_t *head, size_t len)
{
	struct byte_reader r = br_make(head, len);
	uint32_t magic = br_u32(&r);
	uint64_t size = FRAME_HEAD_SIZE + (uint64_t)br_u32(&r);

	if (r.bad || (magic & SKIPPABLE_MASK) != SKIPPABLE_MAGIC || magic == IDENT_MAGIC ||
	    magic == SIGNPOST_MAGIC)
		return 0;
	return f->offset + size <= f->source->size ? size : 0;
}

/* Skips what is at f->offset, because it is neither IDENT nor SIGNPOST. */
static int finder_skip(struct chunk_finder *f, const uint8_t *head, size_t len)
{
	uint64_t size = foreign_frame_size(f, head, len);
	int found;

	if (size) {
		f->skipped_bytes += size;
		f->offset += size;
		return 0;
	}
	found = finder_resync(f, f->offset + 1);
	f->has_gap = true;
	f->truncated |= !found;
	return found < 0 ? found : 0;
}

/* Whether more bytes may make a whole frame of the n bytes at f->offset. */
static bool finder_must_wait(const struct chunk_finder *f, const uint8_t *head, size_t n)
{
	struct signpost sp;
	struct ident id;

	if (!f->grows || ident_decode(head, n, &id))
		return false;
	if (signpost_decode(head, n, &sp))
		return sizes_are_good(&sp) &&
		       f->offset + SIGNPOST_SIZE + sp.data_size > f->source->size;
	return n < SIGNPOST_SIZE;
}

int chunk_finder_next(struct chunk_finder *f)
{
	int done = 0;

	while (!done && !f->at_end && f->offset < f->end) {
		const uint8_t *head;
		ssize_t n = finder_look(f, SIGNPOST_SIZE, f->offset, &head);
		struct signpost sp;
		struct ident id;

		if (n <= 0 || finder_must_wait(f, head, (size_t)n))
			return n < 0 ? (int)n : 0;
		if (ident_decode(head, (size_t)n, &id))
			done = finder_take_ident(f, &id);
		else if (signpost_decode(head, (size_t)n, &sp))
			done = finder_take_chunk(f, &sp);
		else
			done = finder_skip(f, head, (size_t)n);
	}
	return done;
}
