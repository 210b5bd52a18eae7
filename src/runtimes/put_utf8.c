/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/put_utf8.h"

#include "src/base/bytes.h"

#define LONGEST 4			/* bytes of a character */

void put_utf8(struct byte_buf *b, uint32_t c)
{
	if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		bb_u8(b, (uint8_t)c);
	} else if (c < 0x800) {
		bb_u8(b, (uint8_t)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		bb_u8(b, (uint8_t)(0xe0 | c >> 12));
		bb_u8(b, (uint8_t)(0x80 | (c >> 6 & 63)));
	} else {
		bb_u8(b, (uint8_t)(0xf0 | c >> 18));
		bb_u8(b, (uint8_t)(0x80 | (c >> 12 & 63)));
		bb_u8(b, (uint8_t)(0x80 | (c >> 6 & 63)));
	}
	if (c >= 0x80)
		bb_u8(b, (uint8_t)(0x80 | (c & 63)));
}

uint32_t text_unit(const uint8_t *v, size_t i, unsigned width)
{
	return width == 1 ? v[i] : v[2 * i] | (uint32_t)v[2 * i + 1] << 8;
}

void put_units(struct byte_buf *b, const uint8_t *v, size_t nr, unsigned width, size_t max)
{
	for (size_t i = 0; i < nr && b->nr + LONGEST + 1 < max; i++) {
		uint32_t c = text_unit(v, i, width);

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < nr) {
			uint32_t low = text_unit(v, i + 1, width);

			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i++;
			}
		}
		put_utf8(b, c);
	}
}
