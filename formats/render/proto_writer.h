/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields of a message of Protocol Buffers, put into a byte_buf. (Their encoding:
 * https://protobuf.dev/programming-guides/encoding/) A message within another one is made in a
 * buffer of its own first:
 *
 *	proto_u64(&line, 1, function);		1: a varint; 0 is left out
 *	proto_bytes(&location, 4, v, len)	4: a string or message
 *	proto_packed(&sample, 1, ids, nr)	1: numbers
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

enum { PROTO_VARINT = 0, PROTO_BYTES = 2 };

static inline void proto_tag(struct byte_buf *b, uint32_t field, unsigned type)
{
	bb_uv(b, (uint64_t)field << 3 | type);
}

static inline void proto_u64(struct byte_buf *b, uint32_t field, uint64_t v)
{
	if (!v)
		return;
	proto_tag(b, field, PROTO_VARINT);
	bb_uv(b, v);
}

static inline void proto_bytes(struct byte_buf *b, uint32_t field, const void *data, size_t len)
{
	proto_tag(b, field, PROTO_BYTES);
	bb_uv(b, len);
	bb_bytes(b, data, len);
}

static inline size_t proto_varint_len(uint64_t v)
{
	size_t len = 1;

	for (; v > 127; v >>= 7)
		len++;
	return len;
}

static inline void proto_packed(struct byte_buf *b, uint32_t field, const uint64_t *v, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		len += proto_varint_len(v[i]);
	proto_tag(b, field, PROTO_BYTES);
	bb_uv(b, len);
	for (size_t i = 0; i < nr; i++)
		bb_uv(b, v[i]);
}
