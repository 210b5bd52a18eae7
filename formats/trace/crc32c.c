/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/crc32c.h"

/* Bit by bit is fast enough for the forty octets or so of an IDENT or SIGNPOST frame. */
uint32_t crc32c(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t crc = ~0u;

	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}
