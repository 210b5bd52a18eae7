/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded little-endian reading and growing writing of bytes; LEB128 varints as in DWARF.
 *
 * struct byte_reader never reads past its end: a read that would do so returns 0 and sets bad, and
 * so does every later read. So it is enough to check bad once after a group of reads. struct
 * byte_buf sets bad when it is out of memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct byte_reader {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct byte_reader br_make(const void *data, size_t len)
{
	const uint8_t *p = data;

	return (struct byte_reader){ p, p + len, false };
}

static inline size_t br_left(const struct byte_reader *r)
{
	return (size_t)(r->end - r->p);
}

/* The next n bytes, or NULL (and bad) when there are fewer. */
static inline const uint8_t *br_bytes(struct byte_reader *r, uint64_t n)
{
	const uint8_t *p = r->p;

	if (r->bad || n > br_left(r)) {
		r->bad = true;
		r->p = r->end;
		return NULL;
	}
	r->p += n;
	return p;
}

/* A reader of the next n bytes alone; r itself continues after them. */
static inline struct byte_reader br_sub(struct byte_reader *r, uint64_t n)
{
	const uint8_t *p = br_bytes(r, n);
	struct byte_reader sub = { p, p ? p + n : NULL, !p };

	return sub;
}

static inline uint64_t br_fixed(struct byte_reader *r, unsigned n)
{
	const uint8_t *p = br_bytes(r, n);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static inline uint8_t br_u8(struct byte_reader *r) { return (uint8_t)br_fixed(r, 1); }
static inline uint16_t br_u16(struct byte_reader *r) { return (uint16_t)br_fixed(r, 2); }
static inline uint32_t br_u32(struct byte_reader *r) { return (uint32_t)br_fixed(r, 4); }
static inline uint64_t br_u64(struct byte_reader *r) { return br_fixed(r, 8); }

/* Unsigned varint; more than 10 bytes or more than 64 bits is bad. */
static inline uint64_t br_uv(struct byte_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = br_u8(r);

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return r->bad ? 0 : v;
	}
	r->bad = true;
	return 0;
}

/* Signed LEB128 of DWARF; more than 10 bytes is bad. */
static inline int64_t br_sleb(struct byte_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = br_u8(r);

		v |= (uint64_t)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if (b & 0x40 && shift < 57)
			v |= ~(uint64_t)0 << (shift + 7);
		return r->bad ? 0 : (int64_t)v;
	}
	r->bad = true;
	return 0;
}

/* Zig-zag varint. */
static inline int64_t br_sv(struct byte_reader *r)
{
	uint64_t v = br_uv(r);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

struct byte_buf {
	uint8_t *v;
	size_t nr, cap;
	bool bad;
};

static inline void bb_release(struct byte_buf *b)
{
	free(b->v);
	memset(b, 0, sizeof(*b));
}

/* Room for n more bytes at v + nr, or NULL (and bad). */
static inline uint8_t *bb_room(struct byte_buf *b, size_t n)
{
	if (!b->v || b->nr + n > b->cap) {
		size_t cap = b->cap + b->cap / 2 + n + 256;
		uint8_t *v = b->bad ? NULL : realloc(b->v, cap);

		if (!v) {
			b->bad = true;
			return NULL;
		}
		b->v = v;
		b->cap = cap;
	}
	return b->v + b->nr;
}

static inline void bb_bytes(struct byte_buf *b, const void *data, size_t n)
{
	uint8_t *p = bb_room(b, n);

	if (p && n) {
		memcpy(p, data, n);
		b->nr += n;
	}
}

static inline void bb_fixed(struct byte_buf *b, uint64_t v, unsigned n)
{
	uint8_t *p = bb_room(b, n);

	for (unsigned i = 0; p && i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
	if (p)
		b->nr += n;
}

static inline void bb_u8(struct byte_buf *b, uint8_t v) { bb_fixed(b, v, 1); }
static inline void bb_u16(struct byte_buf *b, uint16_t v) { bb_fixed(b, v, 2); }
static inline void bb_u32(struct byte_buf *b, uint32_t v) { bb_fixed(b, v, 4); }
static inline void bb_u64(struct byte_buf *b, uint64_t v) { bb_fixed(b, v, 8); }

static inline void bb_uv(struct byte_buf *b, uint64_t v)
{
	uint8_t *p = bb_room(b, 10);
	size_t n = 0;

	if (!p)
		return;
	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	b->nr += n;
}

static inline void bb_sv(struct byte_buf *b, int64_t v)
{
	bb_uv(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}
