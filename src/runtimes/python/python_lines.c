/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/python/python_lines.h"

#include <errno.h>
#include <stdbool.h>

#include "src/base/bytes.h"

/* Kinds of entries since 3.11: bits 3 - 6 of the first byte. */
enum { ENTRY_ONE_LINE_0 = 10, ENTRY_ONE_LINE_2 = 12, ENTRY_NO_COLUMNS, ENTRY_LONG, ENTRY_NONE };

#define FIRST_OF_ENTRY 0x80		/* bit of an entry's first byte alone */
#define NO_LINE (-128)			/* 3.10 */

/* Six bits a byte, the lowest ones first; bit 0 of the value is the sign. */
static int64_t line_delta(struct byte_reader *r)
{
	uint64_t v = 0;
	uint8_t b;

	for (unsigned shift = 0; shift < 36; shift += 6) {
		b = br_u8(r);
		v |= (uint64_t)(b & 63) << shift;
		if (!(b & 64))
			break;
	}
	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

static int line_of_entries(int64_t line, struct byte_reader r, int64_t offset, uint32_t *out)
{
	int64_t end = 0;

	while (br_left(&r)) {
		const uint8_t head = br_u8(&r);
		const int kind = head >> 3 & 15;

		if (kind == ENTRY_NO_COLUMNS || kind == ENTRY_LONG)
			line += line_delta(&r);
		else if (kind >= ENTRY_ONE_LINE_0 && kind <= ENTRY_ONE_LINE_2)
			line += kind - ENTRY_ONE_LINE_0;
		while (br_left(&r) && !(*r.p & FIRST_OF_ENTRY))
			br_u8(&r);
		end += ((head & 7) + 1) * 2;
		if (offset >= end)
			continue;
		*out = (uint32_t)line;
		/* What begins a module is on line 0. */
		return kind == ENTRY_NONE || line <= 0 ? -ENODATA : 0;
	}
	return -ESTALE;
}

/* 3.10: bytes of code, then by how much the line differs from that of the pair before. */
static int line_of_ranges(int64_t line, struct byte_reader r, int64_t offset, uint32_t *out)
{
	int64_t end = 0;

	while (br_left(&r) >= 2) {
		const uint8_t bytes = br_u8(&r);
		const int8_t delta = (int8_t)br_u8(&r);

		if (delta != NO_LINE)
			line += delta;
		end += bytes;
		if (offset >= end)
			continue;
		*out = (uint32_t)line;
		return delta == NO_LINE ? -ENODATA : 0;
	}
	return -ESTALE;
}

/* Up to 3.9: bytes of code, then by how much the line is greater behind them. */
static int line_of_steps(int64_t line, struct byte_reader r, int64_t offset, uint32_t *out)
{
	int64_t at = 0;

	while (br_left(&r) >= 2) {
		at += br_u8(&r);
		if (at > offset)
			break;
		line += (int8_t)br_u8(&r);
	}
	*out = (uint32_t)line;
	return 0;
}

int python_line_of(uint32_t minor, uint32_t first_line, const uint8_t *table, size_t len,
		   int64_t offset, uint32_t *line)
{
	struct byte_reader r = br_make(table, len);

	*line = first_line;
	if (offset < 0)
		return 0;
	if (minor >= 11)
		return line_of_entries(first_line, r, offset, line);
	if (minor == 10)
		return line_of_ranges(first_line, r, offset, line);
	return line_of_steps(first_line, r, offset, line);
}
