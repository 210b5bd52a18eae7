/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/render/escape.h"
#include "src/base/bytes.h"

enum push_verdict push_verdict_of(unsigned status)
{
	static const struct {
		unsigned status;
		enum push_verdict verdict;
	} known[] = {
		{ 429, PUSH_AGAIN }, { 502, PUSH_AGAIN }, { 503, PUSH_AGAIN }, { 504, PUSH_AGAIN },
		{ 401, PUSH_NOT_HERE }, { 403, PUSH_NOT_HERE }, { 404, PUSH_NOT_HERE },
		{ 405, PUSH_NOT_HERE }, { 407, PUSH_NOT_HERE },
	};

	if (status >= 200 && status < 300)
		return PUSH_TAKEN;
	if (status < 400)
		return PUSH_NOT_HERE;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].status == status)
			return known[i].verdict;
	return PUSH_REFUSED;
}

/* ---- protobuf, of which two messages with two fields each are read ---- */

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

struct field {
	uint64_t number, value;		/* value: of a varint */
	struct byte_reader bytes;	/* of WIRE_BYTES */
	unsigned type;
};

/* The next field of a message; false: its end, or it is damaged (r->bad). */
static bool next_field(struct byte_reader *r, struct field *f)
{
	uint64_t key;

	if (!br_left(r))
		return false;
	key = br_uv(r);
	*f = (struct field){ .number = key >> 3, .type = key & 7 };
	switch (f->type) {
	case WIRE_VARINT:
		f->value = br_uv(r);
		break;
	case WIRE_64:
		br_bytes(r, 8);
		break;
	case WIRE_32:
		br_bytes(r, 4);
		break;
	case WIRE_BYTES:
		f->bytes = br_sub(r, br_uv(r));
		break;
	default:
		r->bad = true;
	}
	r->bad |= !f->number;
	return !r->bad;
}

static bool is_done(const struct byte_reader *r)
{
	return !r->bad && !br_left(r);
}

static void put_line(struct push_answer *a, const struct byte_reader *text)
{
	push_answer_line(a->why, sizeof(a->why), text->p, br_left(text));
}

/* ExportProfilesPartialSuccess: rejected_profiles = 1, error_message = 2. */
static bool read_partial(struct push_answer *a, struct byte_reader r)
{
	struct field f;

	while (next_field(&r, &f)) {
		/* An int64: what is negative makes no sense, and counts as none. */
		if (f.number == 1 && f.type == WIRE_VARINT && f.value <= INT64_MAX)
			a->rejected = f.value;
		if (f.number == 2 && f.type == WIRE_BYTES)
			put_line(a, &f.bytes);
	}
	return is_done(&r);
}

/* ExportProfilesServiceResponse: partial_success = 1. */
static bool read_response(struct push_answer *a, struct byte_reader r)
{
	struct field f;
	bool ok = true;

	while (ok && next_field(&r, &f))
		if (f.number == 1 && f.type == WIRE_BYTES)
			ok = read_partial(a, f.bytes);
	return ok && is_done(&r);
}

/* google.rpc.Status: code = 1, message = 2, details = 3. */
static bool read_status(struct push_answer *a, struct byte_reader r)
{
	struct field f;

	while (next_field(&r, &f))
		if (f.number == 2 && f.type == WIRE_BYTES)
			put_line(a, &f.bytes);
	return is_done(&r);
}

/* ---- text ---- */

/* At most this many bytes of UTF-8, and no part of a character. */
static size_t cut_at(const char *s, size_t n, size_t most)
{
	if (n <= most)
		return n;
	while (most && ((unsigned char)s[most] & 0xc0) == 0x80)
		most--;
	return most;
}

void push_answer_line(char *buf, size_t size, const void *text, size_t len)
{
	const char *s = text, *end = s + len, *stop;
	char *line = NULL;
	size_t n = 0;
	FILE *out;

	buf[0] = 0;
	while (s < end && strchr(" \t\r\n", *s) && *s)
		s++;
	for (stop = s; stop < end && *stop != '\n' && *stop != '\r';)
		stop++;
	if ((size_t)(stop - s) > size)
		stop = s + size;
	out = open_memstream(&line, &n);
	if (!out)
		return;
	escape_text(out, s, (size_t)(stop - s));
	if (!fclose(out)) {
		n = cut_at(line, n, size - 1);
		memcpy(buf, line, n);
		buf[n] = 0;
	}
	free(line);
}

static bool is_type(const char *content_type, const char *name)
{
	size_t n = strlen(name);

	return content_type && !strncasecmp(content_type, name, n) &&
	       (!content_type[n] || strchr("; \t", content_type[n]));
}

static bool is_protobuf(const char *content_type)
{
	return is_type(content_type, "application/x-protobuf") ||
	       is_type(content_type, "application/protobuf");
}

/* Collectors pass on what a gRPC server said, which has no status of its own for this. */
static bool says_too_large(const struct push_answer *a)
{
	return a->status == 413 ||
	       (a->status >= 400 && (strstr(a->why, "larger than max") ||
				     strstr(a->why, "too large")));
}

void push_answer_read(struct push_answer *a, bool is_otlp, const char *content_type,
		      const void *text, size_t len)
{
	struct byte_reader r = br_make(text, len);
	bool ok = false;

	a->verdict = push_verdict_of(a->status);
	a->why[0] = 0;
	a->rejected = 0;
	a->is_partial = false;
	if (a->verdict == PUSH_TAKEN && is_otlp && is_protobuf(content_type)) {
		/* A damaged answer to what was taken: it is not sent again all the same. */
		if (!read_response(a, r))
			snprintf(a->why, sizeof(a->why), "the answer is damaged");
		a->is_partial = a->rejected || a->why[0];
		return;
	}
	if (a->verdict == PUSH_TAKEN)
		return;
	if (is_protobuf(content_type))
		ok = read_status(a, r) && a->why[0];
	if (!ok)
		push_answer_line(a->why, sizeof(a->why), text, len);
	a->is_too_large = says_too_large(a);
	if (a->status == 500 && !is_otlp && strstr(a->why, "Unavailable"))
		a->verdict = PUSH_AGAIN;
}
