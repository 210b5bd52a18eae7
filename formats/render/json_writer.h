/*
 * JSON, written as it comes: no tree in memory, no recursion, any nesting.
 *
 *	struct json j = { .out = f };
 *	json_open(&j, NULL, '{');
 *	json_string(&j, "name", s, len);
 *	json_open(&j, "list", '[');
 *	json_number(&j, NULL, 7);
 *	json_close(&j, ']');
 *	json_close(&j, '}');
 *
 * key is NULL inside an array and at the top; keys are ours and are not escaped, strings are. Whether a
 * write failed is asked once, at the end, with ferror(out).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool comma;			/* something stands before the next value */
};

void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_newline(struct json *j);	/* the next value begins on a line of its own */

void json_string(struct json *j, const char *key, const char *s, size_t len);
void json_text(struct json *j, const char *key, const char *s);
void json_number(struct json *j, const char *key, uint64_t v);
void json_bool(struct json *j, const char *key, bool v);
