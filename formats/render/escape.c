/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/escape.h"

#include <stdbool.h>
#include <stdint.h>

/* A character of a foreign string: a valid UTF-8 sequence, or one byte that is not part of any. */
struct unit {
	uint32_t code;			/* code point; the byte itself when !valid */
	unsigned len;			/* bytes */
	bool valid;
};

static struct unit decode(const unsigned char *s, size_t left)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned c = s[0], n = c < 0x80	  ? 1
			       : c < 0xc2 ? 0
			       : c < 0xe0 ? 2
			       : c < 0xf0 ? 3
			       : c < 0xf5 ? 4
					  : 0;
	uint32_t code = n < 2 ? c : c & (0x7fu >> n);

	if (!n || n > left)
		return (struct unit){ c, 1, false };
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return (struct unit){ c, 1, false };
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[n] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
		return (struct unit){ c, 1, false };
	return (struct unit){ code, n, true };
}

static bool is_unsafe(struct unit u)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
		{ 0xe0000, 0xe007f },
	};

	if (!u.valid || (u.code & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (u.code >= ranges[i].first && u.code <= ranges[i].last)
			return true;
	}
	return false;
}

/* Most bytes of names are printable ASCII, which needs no escape unless it is in special. */
static bool is_plain(unsigned char c, const char *special)
{
	if (c < 0x20 || c >= 0x7f)
		return false;
	for (; *special; special++) {
		if ((unsigned char)*special == c)
			return false;
	}
	return true;
}

/* Writes the replacement of u, whose bytes are s. */
typedef void (*replace_fn)(FILE *out, struct unit u, const unsigned char *s);

static void escape(FILE *out, const char *str, size_t len, const char *special, replace_fn replace)
{
	const unsigned char *s = (const unsigned char *)str, *end = s + len, *run;

	while (s < end) {
		struct unit u;

		for (run = s; s < end && is_plain(*s, special); s++)
			;
		if (s > run)
			fwrite_unlocked(run, 1, (size_t)(s - run), out);
		if (s == end)
			break;
		u = decode(s, (size_t)(end - s));
		replace(out, u, s);
		s += u.len;
	}
}

static void put_raw_or_hex(FILE *out, struct unit u, const unsigned char *s)
{
	if (!is_unsafe(u)) {
		fwrite_unlocked(s, 1, u.len, out);
		return;
	}
	for (unsigned i = 0; i < u.len; i++)
		fprintf(out, "\\x%02x", s[i]);
}

void escape_text(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, "", put_raw_or_hex);
}

static void put_separated(FILE *out, struct unit u, const unsigned char *s)
{
	if (u.code == ';')
		putc_unlocked(':', out);
	else if (u.code == '|')
		putc_unlocked('!', out);
	else
		put_raw_or_hex(out, u, s);
}

void escape_folded(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, ";", put_separated);
}

void escape_csv(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, ";|", put_separated);
}

void escape_csv_cell(FILE *out, const char *s, size_t len)
{
	if (len && (*s == '=' || *s == '+' || *s == '-' || *s == '@'))
		putc_unlocked('\'', out);
	escape_csv(out, s, len);
}

static void put_json(FILE *out, struct unit u, const unsigned char *s)
{
	if (!u.valid)
		fputs("\xef\xbf\xbd", out);
	else if (u.code == '"' || u.code == '\\')
		fprintf(out, "\\%c", (int)u.code);
	else if (u.code > 0xffff && is_unsafe(u))
		fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (u.code >> 10), 0xdc00 + (u.code & 0x3ff));
	else if (u.code == '<' || u.code == '>' || u.code == '&' || is_unsafe(u))
		fprintf(out, "\\u%04x", u.code);
	else
		fwrite_unlocked(s, 1, u.len, out);
}

void escape_json(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, "\"\\<>&", put_json);
}

static void put_json_separated(FILE *out, struct unit u, const unsigned char *s)
{
	if (u.code == ';')
		putc_unlocked(':', out);
	else
		put_json(out, u, s);
}

void escape_json_folded(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, "\"\\<>&;", put_json_separated);
}

static void put_json_text(FILE *out, struct unit u, const unsigned char *s)
{
	if (!is_unsafe(u)) {
		put_json(out, u, s);
		return;
	}
	for (unsigned i = 0; i < u.len; i++)
		fprintf(out, "\\\\x%02x", s[i]);
}

void escape_json_text(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, "\"\\<>&", put_json_text);
}

static void put_xml(FILE *out, struct unit u, const unsigned char *s)
{
	static const struct {
		uint32_t code;
		const char *entity;
	} entities[] = {
		{ '&', "&amp;" },  { '<', "&lt;" },   { '>', "&gt;" },
		{ '"', "&quot;" }, { '\'', "&#39;" },
	};

	for (size_t i = 0; u.valid && i < sizeof(entities) / sizeof(entities[0]); i++) {
		if (u.code == entities[i].code) {
			fputs(entities[i].entity, out);
			return;
		}
	}
	put_raw_or_hex(out, u, s);
}

void escape_xml(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, "&<>\"'", put_xml);
}
