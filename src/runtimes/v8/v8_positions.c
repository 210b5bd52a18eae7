/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/v8/v8_positions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/runtimes/v8/v8_layout.h"

#define MAX_TABLE (4u << 20)		/* bytes */

/* Bits of a position. Those of files outside (builtins) have the first one. */
#define IS_EXTERNAL 1
#define CHARACTER_SHIFT 1
#define CHARACTER_BITS 30
#define INLINING_SHIFT 31
#define INLINING_BITS 16

static uint64_t bits(uint64_t v, unsigned shift, unsigned n)
{
	return v >> shift & ((1ull << n) - 1);
}

void v8_position_decode(uint64_t raw, struct v8_position *p)
{
	p->character = raw & IS_EXTERNAL
			       ? -1
			       : (int32_t)bits(raw, CHARACTER_SHIFT, CHARACTER_BITS) - 1;
	p->inlining = (int32_t)bits(raw, INLINING_SHIFT, INLINING_BITS) - 1;
}

static uint64_t next_number(const uint8_t *table, size_t bytes, size_t *at, bool *bad)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (*at >= bytes)
			break;
		byte = table[(*at)++];
		v |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return v;
	}
	*bad = true;
	return 0;
}

uint32_t v8_table_number(const uint8_t *table, size_t bytes, size_t *at, int *bad)
{
	bool is_bad = false;
	uint64_t v = next_number(table, bytes, at, &is_bad);

	*bad |= is_bad;
	return (uint32_t)v;
}

/* The sign is the lowest bit. */
static int64_t next_signed(const uint8_t *table, size_t bytes, size_t *at, bool *bad)
{
	uint64_t v = next_number(table, bytes, at, bad);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

int v8_positions_decode(const uint8_t *table, size_t bytes, struct v8_position **out)
{
	struct v8_position *v = calloc(bytes / 2 + 1, sizeof(*v));
	uint64_t offset = 0, raw = 0;
	bool bad = false;
	size_t at = 0;
	int nr = 0;

	if (!v)
		return -ENOMEM;
	while (at < bytes) {
		int64_t step = next_signed(table, bytes, &at, &bad);

		raw += (uint64_t)next_signed(table, bytes, &at, &bad);
		/* An expression has it negative, less 1. */
		offset += (uint64_t)(step < 0 ? -(step + 1) : step);
		if (bad || offset > INT32_MAX)
			break;
		v[nr].offset = (uint32_t)offset;
		v8_position_decode(raw, &v[nr++]);
	}
	if (bad || at < bytes) {
		free(v);
		return -ESTALE;
	}
	*out = v;
	return nr;
}

const struct v8_position *v8_position_at(const struct v8_position *v, size_t nr, uint32_t offset)
{
	size_t low = 0;

	while (nr) {
		size_t half = nr / 2;

		if (v[low + half].offset <= offset) {
			low += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return low ? &v[low - 1] : NULL;
}

int v8_memory_read(const struct target_memory *m, uint64_t addr, uint8_t *to, size_t bytes)
{
	int err = 0;

	for (size_t done = 0; !err && done < bytes; done += TARGET_READ_BYTES) {
		size_t left = bytes - done;

		err = target_read(m, addr + done, to + done,
				  left < TARGET_READ_BYTES ? left : TARGET_READ_BYTES);
	}
	return err;
}

int v8_bytes_read(const struct target_memory *m, uint64_t array, uint8_t **out)
{
	uint64_t length;
	int err = (array & 3) == V8_TAG
			  ? target_read_u64(m, array - V8_TAG + V8_ARRAY_LENGTH, &length)
			  : -ESTALE;

	if (err)
		return err;
	length >>= 32;
	if (length > MAX_TABLE)
		return -ESTALE;
	*out = malloc(length + 1);
	if (!*out)
		return -ENOMEM;
	err = v8_memory_read(m, array - V8_TAG + V8_ARRAY_DATA, *out, length);
	if (!err)
		return (int)length;
	free(*out);
	*out = NULL;
	return err;
}
