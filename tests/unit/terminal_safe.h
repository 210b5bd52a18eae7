/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a terminal would show a text as it is: it is UTF-8 without control characters (except the ends of lines and tabs) and
 * without what turns or hides other characters, or is not seen itself. Written apart from src/base/visible.c, which it judges.
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

/* Unicode's Default_Ignorable_Code_Point, without the characters that are refused for other reasons. */
static inline bool terminal_hides(uint32_t c)
{
	static const uint32_t hidden[] = { 0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180e, 0x180f, 0x200b,
					   0x200c, 0x200d, 0x3164, 0xfeff, 0xffa0 };

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (c == hidden[i])
			return true;
	return (c >= 0x2060 && c <= 0x206f) || (c >= 0xfff0 && c <= 0xfffb) || c >> 4 == 0xfe0 || c >> 12 == 0xe0 ||
	       (c >= 0x1bca0 && c <= 0x1bca3) || (c >= 0x1d173 && c <= 0x1d17a);
}

static inline bool terminal_acts_on(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) || c == 0x200e ||
	       c == 0x200f || c == 0x61c || c == 0x2028 || c == 0x2029 || terminal_hides(c);
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
