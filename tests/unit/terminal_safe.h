/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a terminal would show a text as it is: it is UTF-8 without control characters (except the ends of lines and tabs) and
 * without what turns or hides other characters. Written apart from formats/render/escape.c, which it judges.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the character at s; 0: it is none of UTF-8. */
static inline unsigned terminal_char(const unsigned char *s, size_t left, uint32_t *code)
{
	unsigned n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;

	if (!n || n > left)
		return 0;
	*code = n == 1 ? *s : *s & (0xffu >> (n + 1));
	for (unsigned i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (s[i] & 63);
	}
	if ((n == 2 && *code < 0x80) || (n == 3 && *code < 0x800) || (n == 4 && *code < 0x10000) || *code > 0x10ffff)
		return 0;
	return *code >> 11 == 27 ? 0 : n;	/* surrogates */
}

static inline bool terminal_acts_on(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x61c || c == 0x2028 || c == 0x2029 ||
	       c == 0xfeff || c >> 7 == 0xe0000 >> 7;
}

/* The return before a newline belongs to the end of a line of CSV. */
static inline bool terminal_safe(const char *text, size_t len, size_t *at)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t code = 0;

	for (size_t i = 0; i < len;) {
		unsigned n;

		for (; i < len && s[i] >= 0x20 && s[i] < 0x7f; i++)
			;
		*at = i;
		if (i == len)
			break;
		n = terminal_char(s + i, len - i, &code);
		if (!n)
			return false;
		if (terminal_acts_on(code) && !(code == '\r' && i + 1 < len && s[i + 1] == '\n'))
			return false;
		i += n;
	}
	return true;
}
