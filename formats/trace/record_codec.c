/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/record_codec.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "formats/trace/trace_layout.h"
#include "src/base/array.h"

/* A pointer with its length, as TEXT members are. */
struct text {
	const void *bytes;
	size_t len;
};
#define IS_TEXT(type, pointer, len) \
	_Static_assert(offsetof(struct type, len) == \
			       offsetof(struct type, pointer) + sizeof(void *), \
		       "the length is behind the pointer")
IS_TEXT(rec_meta, value, len);
IS_TEXT(rec_string, bytes, len);
IS_TEXT(rec_note, text, len);
IS_TEXT(rec_rawstack, regs, regs_len);
IS_TEXT(rec_rawstack, bytes, len);

/* Appends length (uv) and bytes; a text that is longer than the limit ends in an ellipsis. */
static void put_bytes(struct byte_buf *b, const void *text, size_t len)
{
	static const char ellipsis[3] = "\xe2\x80\xa6";
	bool cut = len > MAX_STRING;

	bb_uv(b, cut ? MAX_STRING : len);
	bb_bytes(b, text, cut ? MAX_STRING - sizeof(ellipsis) : len);
	if (cut)
		bb_bytes(b, ellipsis, sizeof(ellipsis));
}

static const void *get_bytes(struct byte_reader *r, size_t max, size_t *len)
{
	uint64_t n = br_uv(r);

	if (n > max)
		r->bad = true;
	*len = r->bad ? 0 : n;
	return br_bytes(r, *len);
}

/* A varint that must fit into 32 bits: ids, cpus, flags. */
static uint32_t get_uv32(struct byte_reader *r)
{
	uint64_t v = br_uv(r);

	if (v > UINT32_MAX)
		r->bad = true;
	return (uint32_t)v;
}

static int put_key(struct byte_buf *b, const char *key)
{
	size_t n = strlen(key);

	if (!n || n > MAX_META_KEY)
		return -EINVAL;
	put_bytes(b, key, n);
	return 0;
}

static int get_key(struct record_codec *c, struct byte_reader *r, const char **out)
{
	size_t n;
	const void *key = get_bytes(r, MAX_META_KEY, &n);

	if (!key || !n || memchr(key, 0, n))
		return -EBADMSG;
	memcpy(c->key, key, n);
	c->key[n] = 0;
	*out = c->key;
	return 0;
}

static int put_build_id(struct byte_buf *b, const struct rec_binary *bin)
{
	if (bin->build_id_len > MAX_BUILD_ID)
		return -EINVAL;
	put_bytes(b, bin->build_id, bin->build_id_len);
	return 0;
}

static int get_build_id(struct byte_reader *r, struct rec_binary *bin)
{
	size_t n;
	const void *build_id = get_bytes(r, MAX_BUILD_ID, &n);

	memset(bin->build_id, 0, sizeof(bin->build_id));
	if (!build_id)
		return -EBADMSG;
	memcpy(bin->build_id, build_id, n);
	bin->build_id_len = (uint8_t)n;
	return 0;
}

static void put_segments(struct byte_buf *b, const struct rec_binary *bin)
{
	uint32_t n = bin->nr_segments < MAX_SEGMENTS ? bin->nr_segments : MAX_SEGMENTS;

	bb_uv(b, n);
	for (uint32_t i = 0; i < n; i++) {
		bb_uv(b, bin->segments[i].offset);
		bb_uv(b, bin->segments[i].vaddr);
		bb_uv(b, bin->segments[i].filesz);
	}
}

static int get_segments(struct record_codec *c, struct byte_reader *r, struct rec_binary *bin)
{
	uint64_t n = br_uv(r);

	if (r->bad || n > MAX_SEGMENTS || n > br_left(r) / 3)
		return -EBADMSG;
	if (array_reserve(&c->segments, &c->cap_segments, n))
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		c->segments[i].offset = br_uv(r);
		c->segments[i].vaddr = br_uv(r);
		c->segments[i].filesz = br_uv(r);
	}
	bin->segments = c->segments;
	bin->nr_segments = (uint32_t)n;
	return 0;
}

/*
 * A chain that is too long loses its middle, because the last line is the function that is not
 * inlined. A line in a file of its own has no room here: it is in a PLACE.
 */
static void put_lines(struct byte_buf *b, const struct rec_symbol *s)
{
	uint32_t n = s->nr_lines < MAX_LINES ? s->nr_lines : MAX_LINES;

	bb_uv(b, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct rec_line *l = &s->lines[i + 1 < n ? i : s->nr_lines - 1];

		bb_uv(b, l->func);
		bb_uv(b, l->file ? 0 : l->line);
		bb_uv(b, l->file ? 0 : l->column);
	}
}

static int get_lines(struct record_codec *c, struct byte_reader *r, struct rec_symbol *s)
{
	uint64_t n = br_uv(r);

	if (r->bad || n > MAX_LINES || n > br_left(r) / 3)
		return -EBADMSG;
	if (array_reserve(&c->lines, &c->cap_lines, n))
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		c->lines[i].func = get_uv32(r);
		c->lines[i].line = get_uv32(r);
		c->lines[i].column = get_uv32(r);
		c->lines[i].file = 0;
	}
	s->lines = c->lines;
	s->nr_lines = (uint32_t)n;
	return 0;
}

/*
 * Stores each run as the number of ids left out before it and its length, which are mostly one
 * byte each.
 */
static int put_runs(struct byte_buf *b, const struct rec_repeat *rep)
{
	uint64_t behind = 1;		/* one after the run before */

	bb_uv(b, rep->nr_runs);
	for (uint32_t i = 0; i < rep->nr_runs; i++) {
		const struct rec_run *run = &rep->runs[i];

		if (run->thread < behind || !run->nr)
			return -EINVAL;
		bb_uv(b, run->thread - behind);
		bb_uv(b, run->nr);
		behind = (uint64_t)run->thread + run->nr;
	}
	return 0;
}

static int get_runs(struct record_codec *c, struct byte_reader *r, struct rec_repeat *rep)
{
	uint64_t n = br_uv(r), behind = 1;

	if (r->bad || n > br_left(r) / 2)
		return -EBADMSG;
	if (array_reserve(&c->runs, &c->cap_runs, n))
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t first = behind + get_uv32(r);
		uint32_t nr = get_uv32(r);

		behind = first + nr;
		if (!nr || behind - 1 > UINT32_MAX)
			return -EBADMSG;
		c->runs[i] = (struct rec_run){ (uint32_t)first, nr };
	}
	rep->runs = c->runs;
	rep->nr_runs = (uint32_t)n;
	return 0;
}

/* Stores each end that rows have, with their number. Before version 1.2 there were none. */
static void put_ends(struct byte_buf *b, const struct rec_scan *w)
{
	unsigned nr = 0;

	for (unsigned end = 0; end < STACK_ENDS; end++)
		nr += w->ends[end] > 0;
	bb_uv(b, nr);
	for (unsigned end = 0; end < STACK_ENDS; end++) {
		if (!w->ends[end])
			continue;
		bb_u8(b, (uint8_t)end);
		bb_uv(b, w->ends[end]);
	}
}

static int get_ends(struct byte_reader *r, struct rec_scan *w)
{
	uint64_t n = br_left(r) ? br_uv(r) : 0;

	memset(w->ends, 0, sizeof(w->ends));
	if (r->bad || n > br_left(r) / 2)
		return -EBADMSG;
	for (; n; n--) {
		uint8_t end = br_u8(r);

		w->ends[end < STACK_ENDS ? end : STACK_ENDS] += br_uv(r);
	}
	return 0;
}

/* A parent is stored as its distance, which is mostly 1 and compresses better than the id. */
static uint32_t get_parent(struct byte_reader *r, uint32_t id)
{
	uint32_t distance = get_uv32(r);

	if (distance && distance >= id)
		r->bad = true;
	return distance && !r->bad ? id - distance : 0;
}

static int put_field(const struct record_codec *c, struct byte_buf *b, const struct record *rec,
		     struct field f)
{
	const char *p = (const char *)rec + f.at;
	const uint32_t *u32 = (const void *)p;
	const uint64_t *u64 = (const void *)p;
	const struct text *text = (const void *)p;

	switch ((enum field_kind)f.kind) {
	case U8: bb_u8(b, (uint8_t)*p); break;
	case UV32: bb_uv(b, *u32); break;
	case UV64: bb_uv(b, *u64); break;
	case SV32: bb_sv(b, (int32_t)*u32); break;
	case SV64: bb_sv(b, (int64_t)*u64); break;
	case FIXED64: bb_u64(b, *u64); break;
	case TIME: bb_sv(b, (int64_t)(*u64 - c->time_base_ns)); break;
	case PLUS1: bb_uv(b, (uint32_t)(*u32 + 1)); break;
	case PARENT: bb_uv(b, *u32 ? rec->node.id - *u32 : 0); break;
	case TEXT: put_bytes(b, text->bytes, text->len); break;
	case KEY: return put_key(b, rec->meta.key);
	case BUILD_ID: return put_build_id(b, &rec->binary);
	case SEGMENTS: put_segments(b, &rec->binary); break;
	case LINES: put_lines(b, &rec->symbol); break;
	case RUNS: return put_runs(b, &rec->repeat);
	case LATER64: bb_uv(b, *u64); break;
	case ENDS: put_ends(b, &rec->scan); break;
	}
	return 0;
}

static int get_sv32(struct byte_reader *r, int32_t *out)
{
	int64_t v = br_sv(r);

	*out = (int32_t)v;
	return v < INT32_MIN || v > INT32_MAX ? -EBADMSG : 0;
}

static int get_field(struct record_codec *c, struct byte_reader *r, struct record *rec,
		     struct field f)
{
	char *p = (char *)rec + f.at;
	uint32_t *u32 = (void *)p;
	uint64_t *u64 = (void *)p;
	struct text *text = (void *)p;

	switch ((enum field_kind)f.kind) {
	case U8: *p = (char)br_u8(r); break;
	case UV32: *u32 = get_uv32(r); break;
	case UV64: *u64 = br_uv(r); break;
	case SV32: return get_sv32(r, (int32_t *)u32);
	case SV64: *u64 = (uint64_t)br_sv(r); break;
	case FIXED64: *u64 = br_u64(r); break;
	case TIME: *u64 = c->time_base_ns + (uint64_t)br_sv(r); break;
	case PLUS1: *u32 = get_uv32(r) - 1; break;
	case PARENT: *u32 = get_parent(r, rec->node.id); break;
	case TEXT: text->bytes = get_bytes(r, MAX_STRING, &text->len); break;
	case KEY: return get_key(c, r, &rec->meta.key);
	case BUILD_ID: return get_build_id(r, &rec->binary);
	case SEGMENTS: return get_segments(c, r, &rec->binary);
	case LINES: return get_lines(c, r, &rec->symbol);
	case RUNS: return get_runs(c, r, &rec->repeat);
	case LATER64: *u64 = br_left(r) ? br_uv(r) : 0; break;
	case ENDS: return get_ends(r, &rec->scan);
	}
	return 0;
}

void record_codec_release(struct record_codec *c)
{
	free(c->segments);
	free(c->lines);
	free(c->runs);
	memset(c, 0, sizeof(*c));
}

int record_encode(const struct record_codec *c, struct byte_buf *b, const struct record *rec)
{
	int err = 0;

	assert(record_layout(rec->tag)->stored != STORED_IN_COLUMNS);
	for (const struct field *f = record_layout(rec->tag)->fields; f->at && !err; f++)
		err = put_field(c, b, rec, *f);
	return err;
}

int record_decode(struct record_codec *c, struct byte_reader *r, struct record *rec)
{
	int err = 0;

	for (const struct field *f = record_layout(rec->tag)->fields; f->at && !err; f++)
		err = get_field(c, r, rec, *f);
	return !err && r->bad ? -EBADMSG : err;
}
