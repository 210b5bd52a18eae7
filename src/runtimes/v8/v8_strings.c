/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_strings.h"

#include <errno.h>
#include <stdbool.h>

#include "src/base/bytes.h"
#include "src/runtimes/put_utf8.h"
#include "src/runtimes/v8/v8_layout.h"

#define MAX_PARTS 64			/* of a string that is put together */
#define MAX_HOPS 8
#define PIECE 1024			/* characters that are read at once */

/* Instance types below 0x80 are strings; their bits are the same in all known versions. */
enum {
	IS_NO_STRING = ~0x7f,
	ONE_BYTE = 8,
	FORM = 7, SEQUENCE = 0, CONS = 1, EXTERNAL = 2, SLICED = 3, THIN = 5,
	UNCACHED = 16,			/* external: where the characters are is not told */
};

/* Offsets behind the length, in cons, sliced, thin and external strings. */
enum { FIRST = 16, SECOND = 24, SLICED_OFFSET = 24, EXTERNAL_DATA = 24 };

struct header {
	uint32_t type, length;
	uint64_t first, second;
};

int v8_type_of(const struct target_memory *m, uint64_t object, uint32_t *type)
{
	uint16_t v = 0;
	uint64_t map;
	int err = (object & 3) == V8_TAG ? target_read_u64(m, object - V8_TAG, &map) : -ESTALE;

	if (!err && (map & 3) != V8_TAG)
		err = -ESTALE;
	if (!err)
		err = target_read(m, map - V8_TAG + V8_MAP_TYPE, &v, sizeof(v));
	*type = v;
	return err;
}

static int read_header(const struct target_memory *m, uint64_t string, struct header *h)
{
	uint8_t bytes[32];
	int err = v8_type_of(m, string, &h->type);

	if (!err && h->type & IS_NO_STRING)
		err = -ESTALE;
	if (!err)
		err = target_read(m, string - V8_TAG, bytes, V8_STRING_DATA);
	if (err)
		return err;
	memcpy(&h->length, bytes + V8_STRING_LENGTH, sizeof(h->length));
	h->first = h->second = 0;
	if ((h->type & FORM) == SEQUENCE)
		return 0;
	err = target_read_u64(m, string - V8_TAG + FIRST, &h->first);
	if (!err && (h->type & FORM) != THIN)
		err = target_read_u64(m, string - V8_TAG + SECOND, &h->second);
	return err;
}

/* The characters of a string that lies in one piece: 0, -ENOTSUP: it does not. */
static int characters_of(uint64_t string, const struct header *h, struct v8_text *out)
{
	*out = (struct v8_text){ .length = h->length, .width = h->type & ONE_BYTE ? 1 : 2 };
	if ((h->type & FORM) == SEQUENCE)
		out->addr = string - V8_TAG + V8_STRING_DATA;
	else if ((h->type & FORM) == EXTERNAL && !(h->type & UNCACHED))
		out->addr = h->second;
	else
		return -ENOTSUP;
	return 0;
}

static int put_piece(const struct target_memory *m, const struct v8_text *t, uint32_t from,
		     uint32_t n, size_t max, struct byte_buf *b)
{
	uint8_t v[2 * PIECE];
	int err = target_read(m, t->addr + (uint64_t)from * t->width, v, (size_t)n * t->width);

	if (!err)
		put_units(b, v, n, t->width, max);
	return err;
}

/* Appends as much of the text from character first on as fits. */
static int put_text(const struct target_memory *m, const struct v8_text *t, uint32_t first,
		    uint32_t n, size_t max, struct byte_buf *b)
{
	int err = 0;

	while (!err && n && b->nr + 5 < max) {
		uint32_t piece = n < PIECE ? n : PIECE;

		err = put_piece(m, t, first, piece, max, b);
		first += piece;
		n -= piece;
	}
	return err;
}

/* A part of a string that is still to come. */
struct part {
	uint64_t string;
	uint32_t from, n;
};

/* Puts characters, or replaces the part on top of the stack by what it consists of. */
static int put_part(const struct target_memory *m, struct part *stack, unsigned *depth, size_t max,
		    struct byte_buf *b)
{
	struct part p = stack[--*depth];
	struct v8_text t;
	struct header h;
	int err = read_header(m, p.string, &h);

	if (err)
		return err;
	if (p.from > h.length)
		return -ESTALE;
	if (p.n > h.length - p.from)
		p.n = h.length - p.from;
	if (!characters_of(p.string, &h, &t))
		return put_text(m, &t, p.from, p.n, max, b);
	if (*depth + 2 > MAX_PARTS)
		return -ENOTSUP;
	switch (h.type & FORM) {
	case CONS:
		stack[(*depth)++] = (struct part){ h.second, 0, p.n };
		stack[(*depth)++] = (struct part){ h.first, 0, p.n };
		return 0;
	case SLICED:
		stack[(*depth)++] = (struct part){ h.first, p.from + (uint32_t)(h.second >> 32),
						   p.n };
		return 0;
	case THIN:
		stack[(*depth)++] = (struct part){ h.first, p.from, p.n };
		return 0;
	default:
		return -ENOTSUP;
	}
}

int v8_string_read(const struct target_memory *m, uint64_t string, size_t max, char **out)
{
	struct part stack[MAX_PARTS + 2] = { { string, 0, UINT32_MAX } };
	struct byte_buf b = { 0 };
	unsigned depth = 1;
	int err = 0;

	for (unsigned i = 0; !err && depth && i < 2 * MAX_PARTS && b.nr + 5 < max; i++)
		err = put_part(m, stack, &depth, max, &b);
	bb_u8(&b, 0);
	if (!err && b.bad)
		err = -ENOMEM;
	if (err)
		bb_release(&b);
	else
		*out = (char *)b.v;
	return err;
}

int v8_text_find(const struct target_memory *m, uint64_t string, struct v8_text *out)
{
	for (unsigned i = 0; i < MAX_HOPS; i++) {
		struct header h, rest;
		int err = read_header(m, string, &h);

		if (!err && !characters_of(string, &h, out))
			return 0;
		/* A cons string that was flattened has all in its first part. */
		if (!err && (h.type & FORM) == CONS)
			err = read_header(m, h.second, &rest) || rest.length ? -ENOTSUP : 0;
		else if (!err && (h.type & FORM) != THIN)
			err = -ENOTSUP;
		if (err)
			return err;
		string = h.first;
	}
	return -ENOTSUP;
}
