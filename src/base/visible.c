/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/visible.h"

#include <string.h>

#define ESCAPED_LEN 4			/* of "\xNN" */
#define LONGEST 4			/* bytes of a character */

/* How many bytes a sequence has that begins with c; 0: none begins so. */
static unsigned sequence_len(unsigned c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc2)
		return 0;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

struct visible_char visible_decode(const void *text, size_t left)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = text;
	unsigned c = s[0], n = sequence_len(c);
	uint32_t code = n < 2 ? c : c & (0x7fu >> n);

	if (!n || n > left)
		return (struct visible_char){ c, 1, false };
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return (struct visible_char){ c, 1, false };
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[n] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
		return (struct visible_char){ c, 1, false };
	return (struct visible_char){ code, n, true };
}

bool visible_is_unsafe(struct visible_char c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x2028, 0x202e }, { 0xfdd0, 0xfdef },
		{ 0xfff0, 0xfffb },
		/* Default_Ignorable_Code_Point of Unicode 16 */
		{ 0xad, 0xad }, { 0x34f, 0x34f }, { 0x61c, 0x61c }, { 0x115f, 0x1160 },
		{ 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f }, { 0x2060, 0x206f },
		{ 0x3164, 0x3164 }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },
		{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	if (!c.valid || (c.code & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (c.code >= ranges[i].first && c.code <= ranges[i].last)
			return true;
	}
	return false;
}

static size_t put_escaped(char *dst, const unsigned char *s, unsigned len)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < len; i++, dst += ESCAPED_LEN) {
		dst[0] = '\\';
		dst[1] = 'x';
		dst[2] = digits[s[i] >> 4];
		dst[3] = digits[s[i] & 15];
	}
	return (size_t)len * ESCAPED_LEN;
}

/* Most of all characters are, and need neither decoding nor an escape. */
static bool is_printable_ascii(char c)
{
	return c >= 0x20 && c < 0x7f;
}

size_t visible_copy(char *dst, size_t size, const char *src, size_t len)
{
	const char *end = src + len;
	size_t n = 0;

	while (src < end) {
		struct visible_char c;
		bool unsafe;

		for (; src < end && is_printable_ascii(*src) && n + 1 < size; src++)
			dst[n++] = *src;
		if (src == end)
			break;
		c = visible_decode(src, (size_t)(end - src));
		unsafe = visible_is_unsafe(c);
		if (n + (unsafe ? c.len * ESCAPED_LEN : c.len) >= size)
			break;
		if (unsafe)
			n += put_escaped(dst + n, (const unsigned char *)src, c.len);
		for (unsigned i = 0; !unsafe && i < c.len; i++)
			dst[n++] = src[i];
		src += c.len;
	}
	dst[n] = 0;
	return n;
}

/* Writes pieces that end at the end of a character. */
static void put(FILE *out, const char *s, size_t len)
{
	char text[256];

	for (const char *end = s + len; s < end;) {
		size_t left = (size_t)(end - s), n = 0;

		while (n < left && n + LONGEST < sizeof(text) / ESCAPED_LEN)
			n += visible_decode(s + n, left - n).len;
		fwrite(text, 1, visible_copy(text, sizeof(text), s, n), out);
		s += n;
	}
}

void visible_put(FILE *out, const char *s)
{
	put(out, s, strlen(s));
}

void visible_put_lines(FILE *out, const char *s, size_t len)
{
	for (const char *end = s + len, *line; s < end; s = line) {
		const char *newline = memchr(s, '\n', (size_t)(end - s));

		line = newline ? newline + 1 : end;
		put(out, s, (size_t)((newline ? newline : end) - s));
		if (newline)
			putc('\n', out);
	}
}
