/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers as HotSpot compresses them (UNSIGNED5, src/hotspot/share/utilities/unsigned5.hpp): up to
 * five bytes, of which all but the last are 192 or more; each counts 64 times the one before it.
 * Since 19 no byte is 0: each is one more than it would be.
 */
#pragma once

#include "src/base/bytes.h"

struct hotspot_stream {
	struct byte_reader r;
	uint32_t excluded;		/* bytes that do not occur: 1 since 19, else 0 */
};

static inline uint32_t hotspot_stream_u32(struct hotspot_stream *s)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < 5; i++) {
		uint32_t byte = br_u8(&s->r);

		if (byte < s->excluded)
			s->r.bad = true;
		v += (byte - s->excluded) << (6 * i);
		if (byte < 192)
			break;
	}
	return s->r.bad ? 0 : v;
}

static inline int32_t hotspot_stream_i32(struct hotspot_stream *s)
{
	uint32_t v = hotspot_stream_u32(s);

	return (int32_t)(v >> 1) ^ -(int32_t)(v & 1);
}

static inline struct hotspot_stream hotspot_stream_at(const uint8_t *v, size_t len, size_t at,
						      uint32_t version)
{
	return (struct hotspot_stream){
		at < len ? br_make(v + at, len - at) : br_make("", 0), version >> 24 >= 19,
	};
}
