/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_layout.h"

#include <string.h>

#include "formats/trace/crc32c.h"
#include "src/base/bytes.h"

static const char ident_text[11] = "PROBEE-PBZ";	/* with its NUL */
static const char chunk_text[4] = { 'P', 'B', 'C', '1' };

/* Writes n bytes, little-endian; returns the place after them. */
static uint8_t *put(uint8_t *p, uint64_t v, unsigned n)
{
	for (; n; n--, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

/* The checksum covers the frame from its magic number on. */
static void put_crc(uint8_t *frame, uint8_t *end)
{
	put(end, crc32c(frame, (size_t)(end - frame)), 4);
}

static bool crc_is_good(const uint8_t *frame, size_t size)
{
	struct byte_reader r = br_make(frame + size - 4, 4);

	return br_u32(&r) == crc32c(frame, size - 4);
}

uint32_t ident_segment(const struct ident *id)
{
	struct byte_reader r = br_make(id->uuid, sizeof(id->uuid));

	return br_u32(&r);
}

void ident_encode(uint8_t out[IDENT_SIZE], const struct ident *id)
{
	uint8_t *p = put(out, IDENT_MAGIC, 4);

	p = put(p, IDENT_SIZE - FRAME_HEAD_SIZE, 4);
	p = mempcpy(p, ident_text, sizeof(ident_text));
	p = put(p, id->major, 1);
	p = put(p, id->minor, 1);
	p = put(p, id->flags, 2);
	p = mempcpy(p, id->uuid, sizeof(id->uuid));
	put_crc(out, p);
}

bool ident_decode(const void *data, size_t len, struct ident *id)
{
	struct byte_reader r = br_make(data, len);
	const uint8_t *p;

	if (br_u32(&r) != IDENT_MAGIC || br_u32(&r) != IDENT_SIZE - FRAME_HEAD_SIZE ||
	    len < IDENT_SIZE)
		return false;
	p = br_bytes(&r, sizeof(ident_text));
	if (!p || memcmp(p, ident_text, sizeof(ident_text)) || !crc_is_good(data, IDENT_SIZE))
		return false;
	id->major = br_u8(&r);
	id->minor = br_u8(&r);
	id->flags = br_u16(&r);
	p = br_bytes(&r, sizeof(id->uuid));
	if (p)
		memcpy(id->uuid, p, sizeof(id->uuid));
	return !r.bad;
}

void signpost_encode(uint8_t out[SIGNPOST_SIZE], const struct signpost *sp)
{
	uint8_t *p = put(out, SIGNPOST_MAGIC, 4);

	p = put(p, SIGNPOST_SIZE - FRAME_HEAD_SIZE, 4);
	p = put(p, sp->contents, 1);
	p = put(p, 0, 3);
	p = put(p, sp->segment, 4);
	p = put(p, sp->seq, 4);
	p = put(p, sp->data_size, 4);
	p = put(p, sp->raw_size, 4);
	p = put(p, sp->first_ns, 8);
	p = put(p, sp->last_ns, 8);
	p = put(p, sp->nr_samples, 4);
	put_crc(out, p);
}

bool signpost_decode(const void *data, size_t len, struct signpost *sp)
{
	struct byte_reader r = br_make(data, len);

	if (br_u32(&r) != SIGNPOST_MAGIC || br_u32(&r) != SIGNPOST_SIZE - FRAME_HEAD_SIZE ||
	    len < SIGNPOST_SIZE || !crc_is_good(data, SIGNPOST_SIZE))
		return false;
	sp->contents = br_u8(&r);
	br_bytes(&r, 3);
	sp->segment = br_u32(&r);
	sp->seq = br_u32(&r);
	sp->data_size = br_u32(&r);
	sp->raw_size = br_u32(&r);
	sp->first_ns = br_u64(&r);
	sp->last_ns = br_u64(&r);
	sp->nr_samples = br_u32(&r);
	return !r.bad;
}

void chunk_head_encode(uint8_t out[CHUNK_HEAD_SIZE], const struct chunk_head *head)
{
	uint8_t *p = mempcpy(out, chunk_text, sizeof(chunk_text));

	p = put(p, head->segment, 4);
	p = put(p, head->seq, 4);
	p = put(p, head->length, 4);
	put(p, head->time_base_ns, 8);
}

bool chunk_head_decode(const void *data, size_t len, struct chunk_head *head)
{
	struct byte_reader r = br_make(data, len);
	const uint8_t *p = br_bytes(&r, sizeof(chunk_text));

	if (!p || memcmp(p, chunk_text, sizeof(chunk_text)))
		return false;
	head->segment = br_u32(&r);
	head->seq = br_u32(&r);
	head->length = br_u32(&r);
	head->time_base_ns = br_u64(&r);
	return !r.bad;
}
