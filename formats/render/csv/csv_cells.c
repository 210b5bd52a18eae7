/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a cell is made of: numbers, dates, and texts that may be foreign. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "formats/render/csv/csv_parts.h"
#include "formats/render/escape.h"
#include "src/base/hex.h"
#include "src/model/definition_store.h"

void csv_put_decimal(struct csv *c, uint64_t v)
{
	char buf[20];
	size_t n = sizeof(buf);

	do {
		buf[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	bb_bytes(&c->row, buf + n, sizeof(buf) - n);
}

void csv_put_text(struct csv *c, const char *s)
{
	bb_bytes(&c->row, s, strlen(s));
}

bool csv_is_formula(const struct csv *c, const char *s, size_t len)
{
	return c->dialect != CSV_JSON && escape_is_formula(s, len);
}

int csv_put_cached(struct csv *c, const struct cached_text *t)
{
	if (!t)
		return -ENOMEM;
	bb_bytes(&c->row, t->s, t->len);
	return 0;
}

/* A text that may be foreign: no control characters, and no formula. */
void csv_escape_cell(const struct csv *c, FILE *out, const char *s, size_t len)
{
	static void (*const by_dialect[])(FILE *, const char *, size_t) = {
		[CSV_XSTACK] = escape_csv,
		[CSV_RFC4180] = escape_text,
		[CSV_JSON] = escape_json,
	};

	if (csv_is_formula(c, s, len))
		putc('\'', out);
	by_dialect[c->dialect](out, s, len);
}

/* Frames are separated by ';' in all dialects, and only some of them have quotes. */
void csv_escape_frame(const struct csv *c, FILE *out, const char *s, size_t len)
{
	static void (*const by_dialect[])(FILE *, const char *, size_t) = {
		[CSV_XSTACK] = escape_csv,
		[CSV_RFC4180] = escape_folded,
		[CSV_JSON] = escape_json_folded,
	};

	by_dialect[c->dialect](out, s, len);
}

void csv_put_digits_of(struct csv *c, const struct rec_binary *b)
{
	char hex[2 * sizeof(b->build_id) + 1];

	if (b && b->build_id_len <= sizeof(b->build_id))
		bb_bytes(&c->row, hex, (size_t)(hex_put(hex, b->build_id, b->build_id_len) - hex));
}

int csv_put_string(struct csv *c, uint32_t string)
{
	const struct cached_text *t = text_cache_find(&c->strings, string);
	size_t len;
	const char *s;

	if (!t) {
		s = definition_store_string(c->tables, string, &len);
		csv_escape_cell(c, c->strings.out, s, len);
		t = text_cache_keep(&c->strings, string);
	}
	return csv_put_cached(c, t);
}

/* The date of a second: xstack's is local, the others are ISO 8601 in UTC. */
void csv_make_date(const struct csv *c, uint64_t second, char date[CSV_DATE_MAX])
{
	time_t t = (time_t)second;
	struct tm tm = { 0 };

	if (c->dialect == CSV_XSTACK)
		localtime_r(&t, &tm);
	else
		gmtime_r(&t, &tm);
	strftime(date, CSV_DATE_MAX, c->dialect == CSV_XSTACK ? "%Y-%m-%d %H:%M:%S"
							      : "%Y-%m-%dT%H:%M:%S", &tm);
}
