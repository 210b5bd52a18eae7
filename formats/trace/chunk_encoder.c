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
	SPLIT_BYTES = 1024,		/* of samples that get a chunk of their own */
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
	free(c->samples);
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
	if (array_reserve(&c->samples, &c->cap_samples, c->nr_samples + 1))
		return -ENOMEM;
	set_time_base(c, s->time_ns);
	c->samples[c->nr_samples++] = *s;
	c->bytes += SAMPLE_ESTIMATE;
	return 0;
}

/*
 * Puts into the signpost what the chunk has of samples. A REPEAT may refer to rows of scans, so a
 * chunk that has some must not be left out by a reader.
 */
static void note_samples(const struct chunk_encoder *c, struct signpost *sp)
{
	uint64_t first = c->samples[0].time_ns, last = c->samples[c->nr_samples - 1].time_ns;

	if (!sp->nr_samples || first < sp->first_ns)
		sp->first_ns = first;
	if (!sp->nr_samples || last > sp->last_ns)
		sp->last_ns = last;
	sp->nr_samples += (uint32_t)c->nr_samples;
	sp->contents |= CHUNK_HAS_SAMPLES;
	for (size_t i = 0; i < c->nr_samples && !(sp->contents & CHUNK_HAS_TABLES); i++)
		if (c->samples[i].scan)
			sp->contents |= CHUNK_HAS_TABLES;
}

/* Makes a SAMPLES record of the samples collected so far. */
static int close_samples(struct chunk_encoder *c)
{
	struct chunk_section *s = &c->sections[REC_SAMPLE];
	size_t before = s->done.nr;
	int err = samples_sort(c->samples, c->nr_samples);

	if (!c->nr_samples || err)
		return err;
	c->scratch.nr = 0;
	err = sample_columns_encode(&c->columns, &c->scratch, c->samples, c->nr_samples,
				    c->codec.time_base_ns);
	put_record_head(&s->done, REC_SAMPLE, c->scratch.nr);
	bb_bytes(&s->done, c->scratch.v, c->scratch.nr);
	note_samples(c, &c->post);
	c->bytes += s->done.nr - before;
	c->bytes -= c->nr_samples * SAMPLE_ESTIMATE;
	c->nr_samples = 0;
	return err;
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
	err = close_samples(c);		/* the REPEAT stands between these and those to come */
	if (err)
		return err;
	c->nr_repeated += repeat_rows(&rec->repeat);
	c->post.contents |= CHUNK_HAS_TABLES;
	return add_to_section(c, &c->sections[REC_SAMPLE], rec);
}

bool chunk_encoder_is_full(const struct chunk_encoder *c)
{
	return c->bytes >= CHUNK_TARGET || c->nr_samples >= CHUNK_MAX_SAMPLES ||
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

/* Makes a chunk of the sections, with samples or without. What is in sp stays. */
static int put_chunk(struct chunk_encoder *c, bool samples, struct byte_buf *out,
		     struct signpost *sp)
{
	size_t start = out->nr;
	struct chunk_head head = {
		.segment = sp->segment, .seq = sp->seq, .time_base_ns = c->codec.time_base_ns};
	uint8_t head_bytes[CHUNK_HEAD_SIZE] = { 0 };

	bb_bytes(out, head_bytes, sizeof(head_bytes));
	for (size_t i = 0; i < NR_SECTIONS; i++)
		if (samples || section_order[i] != REC_SAMPLE)
			put_section(c, section_order[i], out, sp);
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
		if (tag != REC_SAMPLE && (c->sections[tag].done.nr || c->sections[tag].nr_items))
			return true;
	return false;
}

int chunk_encoder_split(struct chunk_encoder *c, struct byte_buf *out, struct signpost *sp)
{
	int err = close_samples(c);

	if (err || c->post.contents != CHUNK_HAS_SAMPLES || c->sections[REC_END].done.nr ||
	    c->sections[REC_SAMPLE].done.nr < SPLIT_BYTES || !has_others(c))
		return err;
	*sp = (struct signpost){ .segment = sp->segment, .seq = sp->seq };
	err = put_chunk(c, false, out, sp);
	return err ? err : 1;
}

int chunk_encoder_finish(struct chunk_encoder *c, struct byte_buf *out, struct signpost *sp)
{
	int err = close_samples(c);

	c->post.segment = sp->segment;
	c->post.seq = sp->seq;
	*sp = c->post;
	if (err || put_chunk(c, true, out, sp))
		return -ENOMEM;
	c->post = (struct signpost){ 0 };
	c->nr_repeated = 0;
	c->bytes = 0;
	c->has_time_base = false;
	c->codec.time_base_ns = 0;
	return 0;
}
