/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON as a stream: commas, quotes and escapes are written automatically; nesting is up to the
 * caller.
 *
 *	struct json_writer w = { .out = out };
 *	json_begin(&w, '{');
 *	json_key(&w, "name");  json_string(&w, s, len);
 *	json_put_u64(&w, "size", n);
 *	json_end(&w, '}');
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	bool comma;			/* the next value needs a comma before it */
};

void json_begin(struct json_writer *w, char bracket);	/* '{' or '[' */
void json_end(struct json_writer *w, char bracket);	/* '}' or ']' */
void json_key(struct json_writer *w, const char *key);	/* key is a constant: not escaped */
void json_foreign_key(struct json_writer *w, const char *key, size_t len);	/* escaped */
void json_string(struct json_writer *w, const char *s, size_t len);
void json_visible(struct json_writer *w, const char *s, size_t len);	/* escape_json_text() */
void json_null(struct json_writer *w);
void json_u64(struct json_writer *w, uint64_t v);
void json_i64(struct json_writer *w, int64_t v);
void json_millis(struct json_writer *w, uint64_t ns);	/* nanoseconds as milliseconds: 1.500000 */
void json_bool(struct json_writer *w, bool v);

/* Each writes a key and its value. */
void json_put_text(struct json_writer *w, const char *key, const char *s);
void json_put_u64(struct json_writer *w, const char *key, uint64_t v);
void json_put_bool(struct json_writer *w, const char *key, bool v);
/* Six digits after the point; null if v is not a finite number (after a division by zero). */
void json_put_number(struct json_writer *w, const char *key, double v);
