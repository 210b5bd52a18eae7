/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/render/escape.h"

static void begin_value(struct json_writer *w)
{
	if (w->comma)
		putc_unlocked(',', w->out);
	w->comma = true;
}

void json_begin(struct json_writer *w, char bracket)
{
	begin_value(w);
	putc_unlocked(bracket, w->out);
	w->comma = false;
}

void json_end(struct json_writer *w, char bracket)
{
	putc_unlocked(bracket, w->out);
	w->comma = true;
}

void json_key(struct json_writer *w, const char *key)
{
	begin_value(w);
	putc_unlocked('"', w->out);
	fputs_unlocked(key, w->out);
	fputs_unlocked("\":", w->out);
	w->comma = false;
}

void json_foreign_key(struct json_writer *w, const char *key, size_t len)
{
	json_string(w, key, len);
	putc_unlocked(':', w->out);
	w->comma = false;
}

void json_string(struct json_writer *w, const char *s, size_t len)
{
	begin_value(w);
	putc_unlocked('"', w->out);
	escape_json(w->out, s, len);
	putc_unlocked('"', w->out);
}

void json_visible(struct json_writer *w, const char *s, size_t len)
{
	begin_value(w);
	putc_unlocked('"', w->out);
	escape_json_text(w->out, s, len);
	putc_unlocked('"', w->out);
}

static void put_digits(FILE *out, uint64_t v)
{
	char buf[20];			/* made by hand: printf() would take most of the time */
	size_t n = sizeof(buf);

	do {
		buf[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	fwrite_unlocked(buf + n, 1, sizeof(buf) - n, out);
}

void json_u64(struct json_writer *w, uint64_t v)
{
	begin_value(w);
	put_digits(w->out, v);
}

void json_i64(struct json_writer *w, int64_t v)
{
	begin_value(w);
	if (v < 0)
		putc_unlocked('-', w->out);
	put_digits(w->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void json_millis(struct json_writer *w, uint64_t ns)
{
	char fraction[8];
	unsigned rest = (unsigned)(ns % 1000000);

	begin_value(w);
	put_digits(w->out, ns / 1000000);
	if (!rest)
		return;
	fraction[0] = '.';
	for (int i = 6; i; i--, rest /= 10)
		fraction[i] = (char)('0' + rest % 10);
	fwrite_unlocked(fraction, 1, 7, w->out);
}

void json_null(struct json_writer *w)
{
	begin_value(w);
	fputs("null", w->out);
}

void json_bool(struct json_writer *w, bool v)
{
	begin_value(w);
	fputs(v ? "true" : "false", w->out);
}

void json_put_text(struct json_writer *w, const char *key, const char *s)
{
	json_key(w, key);
	json_string(w, s, strlen(s));
}

void json_put_u64(struct json_writer *w, const char *key, uint64_t v)
{
	json_key(w, key);
	json_u64(w, v);
}

void json_put_bool(struct json_writer *w, const char *key, bool v)
{
	json_key(w, key);
	json_bool(w, v);
}

void json_put_number(struct json_writer *w, const char *key, double v)
{
	json_key(w, key);
	if (!isfinite(v)) {
		json_null(w);
		return;
	}
	begin_value(w);
	fprintf(w->out, "%.6f", v);
}
