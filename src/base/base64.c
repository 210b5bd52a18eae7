/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/base64.h"

#include <stdint.h>

#define GROUPS 1024			/* of three bytes, written at a time */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode(char out[4], const uint8_t in[3])
{
	out[0] = letters[in[0] >> 2];
	out[1] = letters[(in[0] & 3) << 4 | in[1] >> 4];
	out[2] = letters[(in[1] & 15) << 2 | in[2] >> 6];
	out[3] = letters[in[2] & 63];
}

static void put_last(FILE *out, const uint8_t *in, size_t len)
{
	uint8_t group[3] = { in[0], len > 1 ? in[1] : 0, 0 };
	char text[4];

	encode(text, group);
	text[3] = '=';
	if (len == 1)
		text[2] = '=';
	fwrite(text, 1, sizeof(text), out);
}

void base64_put(FILE *out, const void *data, size_t len)
{
	const uint8_t *p = data;
	char text[4 * GROUPS];

	while (len >= 3) {
		size_t nr = len / 3 < GROUPS ? len / 3 : GROUPS;

		for (size_t i = 0; i < nr; i++)
			encode(text + 4 * i, p + 3 * i);
		fwrite(text, 4, nr, out);
		p += 3 * nr;
		len -= 3 * nr;
	}
	if (len)
		put_last(out, p, len);
}
