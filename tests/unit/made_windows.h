/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments that look like a recorder's from outside: IDENT, and chunks whose contents are noise. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "formats/trace/trace_layout.h"

#define MADE_DATA 100			/* bytes of a chunk's data */
#define MADE_CHUNK (SIGNPOST_SIZE + MADE_DATA)

static inline size_t made_ident(uint8_t *out, uint32_t number)
{
	struct ident id = { .major = TRACE_MAJOR, .minor = TRACE_MINOR };

	memcpy(id.uuid, &number, sizeof(number));
	ident_encode(out, &id);
	return IDENT_SIZE;
}

static inline size_t made_chunk(uint8_t *out, uint32_t number, uint32_t seq)
{
	struct signpost sp = { .contents = CHUNK_HAS_TABLES | CHUNK_HAS_SAMPLES, .segment = number,
			       .seq = seq, .data_size = MADE_DATA, .raw_size = MADE_DATA,
			       .nr_samples = 1 };

	signpost_encode(out, &sp);
	memset(out + SIGNPOST_SIZE, (int)(number + seq), MADE_DATA);
	return MADE_CHUNK;
}
