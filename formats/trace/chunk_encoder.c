/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/chunk_encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "formats/trace/sample_order.h"
#include "src/base/array.h"

/* The order of types in a chunk. */
static const uint8_t section_order[] = {
#define RECORD(tag, NAME, field, STORED) REC_##NAME,
#include "src/model/records.def"
};
enum { NR_SECTIONS = sizeof(section_order) / sizeof(section_order[0]) };

enum {
	SAMPLE_ESTIMATE = 10,		/* raw bytes of a typical row in columns */
	/*
	 * A chunk of their own takes some 110 bytes more. Samples of so many bytes get one, so that
	 * they are not read for the definitions, or for the scans that come each second.
	 */
	SPLIT_BYTES = 1024, SPLIT_BESIDE_SCANS = 6144,
};

void chunk_encoder_release(struct chunk_encoder *c)
{
	for (size_t i = 0; i < RECORD_TAGS; i++) {
		bb_release(&c->sections[i].done);
		bb_release(&c->sections[i].body);
	}
	record_codec_release(&c->codec);
	sample_columns_release(&c->columns);
	bb_release(&c->scratch);
	bb_release(&c->own);
	free(c->scans.v);
	free(c->samples.v);
	memset(c, 0, sizeof(*c));
}

static void put_record_head(struct byte_buf *b, enum record_tag tag, size_t len)
{
	bb_uv(b, tag);
	bb_uv(b, len);
}

/* Closes the open record of a batched section. */
static void section_close(struct chunk_section *s, enum record_tag tag)
{
	struct byte_buf head = { 0 };

	if (!s->nr_items)
		return;
	if (record_is_definition(tag))
		bb_uv(&head, s->first_id);
	bb_uv(&head, s->nr_items);
	put_record_head(&s->done, tag, head.nr + s->body.nr);
	bb_bytes(&s->done, head.v, head.nr);
	bb_bytes(&s->done, s->body.v, s->body.nr);
	s->done.bad |= head.bad | s->body.bad;
	bb_release(&head);
	s->body.nr = 0;
	s->nr_items = 0;
}

static int add_batched(struct chunk_encoder *c, struct chunk_section *s, const struct record *rec)
{
	uint32_t id = record_defines(rec);

	if (record_is_definition(rec->tag) && id != s->first_id + s->nr_items)
		section_close(s, rec->tag);
	if (!s->nr_items)
		s->first_id = id;
	s->nr_items++;
	return record_encode(&c->codec, &s->body, rec);
}

static int add_single(struct chunk_encoder *c, struct chunk_section *s, const struct record *rec)
{
	int err;

	c->scratch.nr = 0;
	err = record_encode(&c->codec, &c->scratch, rec);
	if (err)
		return err;
	put_record_head(&s->done, rec->tag, c->scratch.nr);
	bb_bytes(&s->done, c->scratch.v, c->scratch.nr);
	s->done.bad |= c->scratch.bad;
	return 0;
}

static void set_time_base(struct chunk_encoder *c, uint64_t time_ns)
{
	if (!c->has_time_base)
		c->codec.time_base_ns = time_ns;
	c->has_time_base = true;
}

static int add_sample(struct chunk_encoder *c, const struct rec_sample *s)
{
	struct chunk_rows *rows = s->scan ? &c->scans : &c->samples;

	if (array_reserve(&rows->v, &rows->cap, rows->nr + 1))
		return -ENOMEM;
	set_time_base(c, s->time_ns);
	rows->v[rows->nr++] = *s;
	c->bytes += SAMPLE_ESTIMATE;
	return 0;
}

/*
 * Puts into the signpost what these rows are. A REPEAT may refer to rows of scans, so a chunk that
 * has some must not be left out by a reader.
 */
static void note_samples(const struct chunk_rows *rows, struct signpost *sp)
{
	uint64_t first = rows->v[0].time_ns, last = rows->v[rows->nr - 1].time_ns;

	if (!sp->nr_samples || first < sp->first_ns)
		sp->first_ns = first;
	if (!sp->nr_samples || last > sp->last_ns)
		sp->last_ns = last;
	sp->nr_samples += (uint32_t)rows->nr;
	sp->contents |= CHUNK_HAS_SAMPLES;
	if (rows->v[0].scan)
		sp->contents |= CHUNK_HAS_TABLES;
}

/* Appends a SAMPLES record of the rows collected so far, and notes them in sp. */
static int close_rows(struct chunk_encoder *c, struct chunk_rows *rows, struct byte_buf *out,
		      struct signpost *sp)
{
	size_t before = out->nr;
	int err = samples_sort(rows->v, rows->nr);

	if (!rows->nr || err)
		return err;
	c->scratch.nr = 0;
	err = sample_columns_encode(&c->columns, &c->scratch, rows->v, rows->nr,
				    c->codec.time_base_ns);
	put_record_head(out, REC_SAMPLE, c->scratch.nr);
	bb_bytes(out, c->scratch.v, c->scratch.nr);
	note_samples(rows, sp);
	c->bytes += out->nr - before;
	c->bytes -= rows->nr * SAMPLE_ESTIMATE;
	rows->nr = 0;
	return err;
}

static int close_scans(struct chunk_encoder *c)
{
	return close_rows(c, &c->scans, &c->sections[REC_SAMPLE].done, &c->post);
}

static int close_samples(struct chunk_encoder *c)
{
	int err = close_scans(c);

	return err ? err : close_rows(c, &c->samples, &c->own, &c->own_post);
}

static int add_to_section(struct chunk_encoder *c, struct chunk_section *s,
			  const struct record *rec)
{
	size_t before = s->done.nr + s->body.nr;
	bool batched = record_layout(rec->tag)->stored == STORED_BATCHED;
	int err = batched ? add_batched(c, s, rec) : add_single(c, s, rec);

	c->bytes += s->done.nr + s->body.nr - before;
	return err ? err : s->done.bad || s->body.bad ? -ENOMEM : 0;
}

int chunk_encoder_add(struct chunk_encoder *c, const struct record *rec)
{
	uint64_t time_ns;
	int err;

	if (rec->tag == REC_SAMPLE)
		return add_sample(c, &rec->sample);
	if (record_time(rec, &time_ns))
		set_time_base(c, time_ns);
	if (rec->tag != REC_REPEAT)
		return add_to_section(c, &c->sections[rec->tag], rec);
	err = close_scans(c);		/* the REPEAT stands between these and those to come */
	if (err)
		return err;
	c->nr_repeated += repeat_rows(&rec->repeat);
	c->post.contents |= CHUNK_HAS_TABLES;
	return add_to_section(c, &c->sections[REC_SAMPLE], rec);
}

bool chunk_encoder_is_full(const struct chunk_encoder *c)
{
	return c->bytes >= CHUNK_TARGET || c->scans.nr + c->samples.nr >= CHUNK_MAX_SAMPLES ||
	       c->nr_repeated >= CHUNK_MAX_REPEATED;
}

bool chunk_encoder_is_empty(const struct chunk_encoder *c)
{
	return !c->bytes;
}

static void put_section(struct chunk_encoder *c, enum record_tag tag, struct byte_buf *out,
			struct signpost *sp)
{
	struct chunk_section *s = &c->sections[tag];

	section_close(s, tag);
	if (s->done.nr && tag != REC_SAMPLE)
		sp->contents |= tag == REC_END ? CHUNK_HAS_END : CHUNK_HAS_TABLES;
	bb_bytes(out, s->done.v, s->done.nr);
	out->bad |= s->done.bad;
	s->done.nr = 0;
}

static void put_own(struct chunk_encoder *c, struct byte_buf *out)
{
	bb_bytes(out, c->own.v, c->own.nr);
	out->bad |= c->own.bad;
	c->own.nr = 0;
}

/* Makes a chunk of the sections, with samples of samplers or without. What is in sp stays. */
static int put_chunk(struct chunk_encoder *c, bool samples, struct byte_buf *out,
		     struct signpost *sp)
{
	size_t start = out->nr;
	struct chunk_head head = {
		.segment = sp->segment, .seq = sp->seq, .time_base_ns = c->codec.time_base_ns};
	uint8_t head_bytes[CHUNK_HEAD_SIZE] = { 0 };

	bb_bytes(out, head_bytes, sizeof(head_bytes));
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		if (samples && section_order[i] == REC_SAMPLE)
			put_own(c, out);
		put_section(c, section_order[i], out, sp);
	}
	if (out->bad)
		return -ENOMEM;
	sp->raw_size = (uint32_t)(out->nr - start);
	head.length = sp->raw_size - CHUNK_HEAD_SIZE;
	chunk_head_encode(out->v + start, &head);
	return 0;
}

static bool has_others(const struct chunk_encoder *c)
{
	for (size_t tag = 0; tag < RECORD_TAGS; tag++)
		if (c->sections[tag].done.nr || c->sections[tag].nr_items)
			return true;
	return false;
}

static bool is_worth_a_chunk(const struct chunk_encoder *c)
{
	size_t least = c->sections[REC_SAMPLE].done.nr ? SPLIT_BESIDE_SCANS : SPLIT_BYTES;

	return c->own.nr >= least && has_others(c) && !c->sections[REC_END].done.nr;
}

int chunk_encoder_split(struct chunk_encoder *c, struct byte_buf *out, struct signpost *sp)
{
	int err = close_samples(c);

	if (err || !is_worth_a_chunk(c))
		return err;
	c->post.segment = sp->segment;
	c->post.seq = sp->seq;
	*sp = c->post;
	err = put_chunk(c, false, out, sp);
	c->post = (struct signpost){ 0 };
	return err ? err : 1;
}

/* What both say of the rows of one chunk. */
static struct signpost joined_posts(const struct signpost *a, const struct signpost *b)
{
	struct signpost sp = *a;

	if (!a->nr_samples || (b->nr_samples && b->first_ns < a->first_ns))
		sp.first_ns = b->first_ns;
	if (b->last_ns > a->last_ns)
		sp.last_ns = b->last_ns;
	sp.nr_samples += b->nr_samples;
	sp.contents |= b->contents;
	return sp;
}

int chunk_encoder_finish(struct chunk_encoder *c, struct byte_buf *out, struct signpost *sp)
{
	const uint32_t segment = sp->segment, seq = sp->seq;
	int err = close_samples(c);

	*sp = joined_posts(&c->post, &c->own_post);
	sp->segment = segment;
	sp->seq = seq;
	if (err || put_chunk(c, true, out, sp))
		return -ENOMEM;
	c->post = c->own_post = (struct signpost){ 0 };
	c->nr_repeated = 0;
	c->bytes = 0;
	c->has_time_base = false;
	c->codec.time_base_ns = 0;
	return 0;
}
