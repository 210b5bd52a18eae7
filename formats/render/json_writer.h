/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON as a stream: commas, quotes and escapes come by themselves, nesting is the caller's
 * business.
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
	bool comma;			/* a value stands before: the next one needs a comma */
};

void json_begin(struct json_writer *w, char bracket);	/* '{' or '[' */
void json_end(struct json_writer *w, char bracket);	/* '}' or ']' */
void json_key(struct json_writer *w, const char *key);	/* our own words: not escaped */
void json_foreign_key(struct json_writer *w, const char *key, size_t len);	/* escaped */
void json_string(struct json_writer *w, const char *s, size_t len);
void json_null(struct json_writer *w);
void json_u64(struct json_writer *w, uint64_t v);
void json_bool(struct json_writer *w, bool v);

/* A key and its value. */
void json_put_text(struct json_writer *w, const char *key, const char *s);
void json_put_u64(struct json_writer *w, const char *key, uint64_t v);
void json_put_bool(struct json_writer *w, const char *key, bool v);
/* Six places behind the point; null for what is no number (a division by zero). */
void json_put_number(struct json_writer *w, const char *key, double v);
