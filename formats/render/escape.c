/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/visible.h"

/*
 * The characters that need no escape, a bit for each: most bytes of names are printable ASCII, and
 * not in special.
 */
struct plain {
	uint64_t bits[4];
};

static struct plain plain_but(const char *special)
{
	struct plain p = { { ~0ull << 0x20, ~0ull >> 1 } };

	for (; *special; special++)
		p.bits[(unsigned char)*special / 64] &= ~(1ull << *special % 64);
	return p;
}

static bool is_plain(unsigned char c, const struct plain *p)
{
	return p->bits[c / 64] >> c % 64 & 1;
}

/* Writes the replacement of u, whose bytes are s. */
typedef void (*replace_fn)(FILE *out, struct visible_char u, const unsigned char *s);

static void escape(FILE *out, const char *str, size_t len, const char *special, replace_fn replace)
{
	const unsigned char *s = (const unsigned char *)str, *end = s + len, *run;
	const struct plain plain = plain_but(special);

	while (s < end) {
		struct visible_char u;

		for (run = s; s < end && is_plain(*s, &plain); s++)
			;
		if (s > run)
			fwrite_unlocked(run, 1, (size_t)(s - run), out);
		if (s == end)
			break;
		u = visible_decode(s, (size_t)(end - s));
		replace(out, u, s);
		s += u.len;
	}
}

static void put_raw_or_hex(FILE *out, struct visible_char u, const unsigned char *s)
{
	if (!visible_is_unsafe(u)) {
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

static void put_separated(FILE *out, struct visible_char u, const unsigned char *s)
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

bool escape_is_formula(const char *s, size_t len)
{
	return len && memchr("=+-@", *s, 4);
}

static void put_json(FILE *out, struct visible_char u, const unsigned char *s)
{
	if (!u.valid)
		fputs("\xef\xbf\xbd", out);
	else if (u.code == '"' || u.code == '\\')
		fprintf(out, "\\%c", (int)u.code);
	else if (u.code > 0xffff && visible_is_unsafe(u))
		fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (u.code >> 10), 0xdc00 + (u.code & 0x3ff));
	else if (u.code == '<' || u.code == '>' || u.code == '&' || visible_is_unsafe(u))
		fprintf(out, "\\u%04x", u.code);
	else
		fwrite_unlocked(s, 1, u.len, out);
}

void escape_json(FILE *out, const char *s, size_t len)
{
	escape(out, s, len, "\"\\<>&", put_json);
}

static void put_json_separated(FILE *out, struct visible_char u, const unsigned char *s)
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

static void put_json_text(FILE *out, struct visible_char u, const unsigned char *s)
{
	if (!visible_is_unsafe(u)) {
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

static void put_xml(FILE *out, struct visible_char u, const unsigned char *s)
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
