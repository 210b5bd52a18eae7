/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams of anybody's making, in portions: what comes out is the beginning of what went in, in pieces that begin as they must, and
 * does not depend on the portions. The first byte is the length of a portion.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/agent/window_cutter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	const uint8_t *data;
	uint64_t at;
	unsigned begins, idents;
};

static int begin(void *ctx)
{
	((struct seen *)ctx)->begins++;
	return 0;
}

static int piece(void *ctx, const uint8_t *bytes, size_t len, const struct signpost *sp)
{
	struct seen *s = ctx;
	struct ident id;

	if (memcmp(bytes, s->data + s->at, len))
		__builtin_trap();
	if (sp ? len != SIGNPOST_SIZE + (size_t)sp->data_size : len != IDENT_SIZE || !ident_decode(bytes, len, &id))
		__builtin_trap();
	s->idents += !sp;
	if (!s->idents || s->begins != s->idents)
		__builtin_trap();
	s->at += len;
	return 0;
}

/* The bytes that came out, whatever was said in the end. */
static uint64_t cut(const uint8_t *data, size_t size, size_t portion)
{
	struct seen s = { .data = data };
	struct window_cutter c = { .begin = begin, .piece = piece, .ctx = &s };
	int err = 0;

	for (size_t at = 0; at < size && !err; at += portion)
		err = window_cutter_feed(&c, data + at, size - at < portion ? size - at : portion);
	if (c.whole != s.at || s.at > size || (!err && c.whole + c.nr != size))
		__builtin_trap();
	window_cutter_release(&c);
	return s.at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (cut(data + 1, size - 1, data[0] + 1u) != cut(data + 1, size - 1, size))
		__builtin_trap();
	return 0;
}
