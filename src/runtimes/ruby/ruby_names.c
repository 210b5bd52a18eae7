/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/ruby/ruby_layout.h"
#include "src/runtimes/ruby/ruby_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/model/record.h"
#include "src/runtimes/ruby/ruby_lines.h"
#include "src/runtimes/ruby/ruby_objects.h"
#include "src/runtimes/ruby/ruby_program.h"
#include "src/runtimes/runtime_kind.h"

#define MAX_CODE_WORDS (1u << 20)
#define MAX_TYPE 8			/* of instruction sequences */
#define MAX_EVALS 8			/* one in the other */
#define METHOD_IN_RUBY 0		/* of a definition: the low bits of its first word */
#define METHOD_TYPE_BITS 15
#define MAX_LINE INT32_MAX

/* In runtime_code.lines. */
struct line_entry {
	uint32_t position, line;
};

static int read_long(const struct target_memory *m, uint64_t addr, uint8_t *to, size_t len)
{
	int err = 0;

	for (size_t done = 0; !err && done < len; done += TARGET_READ_BYTES) {
		size_t n = len - done < TARGET_READ_BYTES ? len - done : TARGET_READ_BYTES;

		err = target_read(m, addr + done, to + done, n);
	}
	return err;
}

/* The path of a file is a string, or the first element of an array. */
static int read_path(const struct ruby_reading *r, uint64_t object, char **out)
{
	uint64_t flags;
	int err = 0, type = ruby_type(r, object, &flags);

	if (type == RUBY_T_ARRAY)
		err = ruby_element(r, object, 0, &object);
	return err ? err : ruby_string(r, object, RUNTIME_FILE_BYTES, out);
}

static int take_lines(struct target_bytes entries, uint32_t nr, uint32_t entry_bytes,
		      const uint8_t *set, size_t set_bytes, struct runtime_code *c)
{
	uint32_t *positions = calloc(nr, sizeof(*positions));
	struct line_entry *to = malloc(nr * sizeof(*to));
	int found = positions && to ? 1 : -ENOMEM;

	if (found > 0 && nr > 1)
		found = ruby_positions(set, set_bytes, c->code_bytes / 8, positions, nr);
	if (found >= 0 && (uint32_t)found != nr)
		found = -ESTALE;
	for (uint32_t i = 0; found > 0 && i < nr; i++)
		to[i] = (struct line_entry){
			positions[i], target_bytes_u32(entries, (uint64_t)i * entry_bytes)
		};
	free(positions);
	if (found < 0) {
		free(to);
		return found == -EBADMSG ? -ESTALE : found;
	}
	c->lines = (uint8_t *)to;
	c->lines_bytes = (uint32_t)(nr * sizeof(*to));
	return 0;
}

static int read_lines(const struct ruby_reading *r, struct target_bytes body,
		      struct runtime_code *c)
{
	const uint32_t at = r->r->layout.body_lines;
	const uint32_t nr = target_bytes_u32(body, at + RUBY_LINES_NR);
	const uint32_t each = r->r->layout.line_bytes;
	const size_t set_bytes = ruby_positions_bytes(c->code_bytes / 8);
	const size_t entries_bytes = (size_t)nr * each;
	uint8_t *bytes;
	int err;

	if (!nr)
		return 0;
	if (nr > c->code_bytes / 8)
		return -ESTALE;
	bytes = malloc(entries_bytes + set_bytes);
	if (!bytes)
		return -ENOMEM;
	err = read_long(r->m, target_bytes_u64(body, at), bytes, entries_bytes);
	if (!err && nr > 1)
		err = read_long(r->m,
				target_bytes_u64(body, at + RUBY_LINES_POSITIONS),
				bytes + entries_bytes, set_bytes);
	if (!err)
		err = take_lines((struct target_bytes){ bytes, entries_bytes }, nr, each,
				 bytes + entries_bytes, set_bytes, c);
	free(bytes);
	return err;
}

/* 0: it cannot be. */
static uint32_t first_line_of(const struct ruby_reading *r, struct target_bytes body)
{
	uint64_t line = target_bytes_u64(body, RUBY_BODY_FIRST_LINE);

	line = r->r->layout.body_line_bytes == 4 ? (uint32_t)line : line >> 1;
	return line <= MAX_LINE ? (uint32_t)line : 0;
}

/*
 * Since 3.4 code of eval has no label of its own, but that of the code which it is in. 0, or
 * -errno; *label as it was, if it is other code.
 */
static int find_label(const struct ruby_reading *r, struct target_bytes body, uint64_t *label)
{
	uint8_t outer[RUBY_BODY_BYTES];
	uint64_t parent;
	char *text = NULL;
	int err = 0;

	for (unsigned i = 0; !err && i < MAX_EVALS; i++) {
		*label = target_bytes_u64(body, RUBY_BODY_LABEL);
		if (target_bytes_u32(body, RUBY_BODY_TYPE) != RUBY_BODY_OF_EVAL)
			return 0;
		err = ruby_string(r, *label, RUNTIME_NAME_BYTES, &text);
		if (err || strcmp(text, "<compiled>"))
			break;
		free(text);
		text = NULL;
		err = target_read_u64(r->m, target_bytes_u64(body, r->r->layout.body_lines +
							  RUBY_LINES_PARENT) +
					    RUBY_ISEQ_BODY, &parent);
		if (!err)
			err = target_read(r->m, parent, outer, sizeof(outer));
		body = TARGET_BYTES(outer);
	}
	free(text);
	return err;
}

/*
 * The label of code. That of a block ends with the label of the method that it is in. A body is
 * freed some time after its strings, which other strings may have replaced by then: such a pair
 * does not fit.
 */
static int read_label(const struct ruby_reading *r, struct target_bytes body, char **out)
{
	const uint64_t base = target_bytes_u64(body, RUBY_BODY_BASE_LABEL);
	size_t base_len, len;
	char *of_base = NULL;
	uint64_t label = 0;
	int err = find_label(r, body, &label);

	if (!err)
		err = ruby_string(r, label, RUNTIME_NAME_BYTES, out);
	if (err || base == label)
		return err;
	err = ruby_string(r, base, RUNTIME_NAME_BYTES, &of_base);
	if (err)
		return err;
	len = strlen(*out);
	base_len = strlen(of_base);
	/* Cut ones cannot be compared. */
	if (len < RUNTIME_NAME_BYTES - 8 &&
	    (len < base_len || strcmp(*out + len - base_len, of_base)))
		err = -ESTALE;
	free(of_base);
	return err;
}

/*
 * What the body of an instruction sequence says. The name is not set if c has one. code: what
 * instructions are counted from.
 */
static int read_body(const struct ruby_reading *r, uint64_t at, struct target_bytes body,
		     uint64_t code, struct runtime_code *c)
{
	const uint32_t words = target_bytes_u32(body, RUBY_BODY_SIZE);
	uint8_t again[RUBY_BODY_BYTES];
	int err = 0;

	if (target_bytes_u32(body, RUBY_BODY_TYPE) > MAX_TYPE || !words || words > MAX_CODE_WORDS)
		return -ESTALE;
	c->code_offset = (uint32_t)(target_bytes_u64(body, RUBY_BODY_CODE) - code);
	c->code_bytes = words * 8;
	c->first_line = first_line_of(r, body);
	if (!c->name)
		err = read_label(r, body, &c->name);
	if (!err)
		err = read_path(r, target_bytes_u64(body, RUBY_BODY_PATH), &c->file);
	if (!err)
		err = read_lines(r, body, c);
	if (!err)
		err = target_read(r->m, at, again, sizeof(again));
	return err ? err : memcmp(again, body.v, sizeof(again)) ? -ESTALE : 0;
}

/* Code that is not a method's. */
static int read_other(const struct ruby_reading *r, uint64_t code, uint32_t cookie,
		      struct runtime_code *c)
{
	uint8_t body[RUBY_BODY_BYTES];
	const struct target_bytes b = TARGET_BYTES(body);
	int err = target_read(r->m, code, body, sizeof(body));

	if (!err && ruby_body_cookie(target_bytes_u64(b, RUBY_BODY_CODE),
				     target_bytes_u64(b, RUBY_BODY_LABEL)) != cookie)
		err = -ESTALE;
	return err ? err : read_body(r, code, b, code, c);
}

static int join_name(const struct ruby_reading *r, uint64_t class, uint64_t id, char **out)
{
	char *prefix = NULL, *name = NULL;
	struct byte_buf b = { 0 };
	int err = ruby_symbol(r, id, RUNTIME_NAME_BYTES / 2, &name);

	if (!err)
		err = ruby_class_prefix(r, class, RUNTIME_NAME_BYTES / 2, &prefix);
	if (!err) {
		bb_bytes(&b, prefix, strlen(prefix));
		bb_bytes(&b, name, strlen(name) + 1);
		err = b.bad ? -ENOMEM : 0;
	}
	free(prefix);
	free(name);
	if (err)
		bb_release(&b);
	else
		*out = (char *)b.v;
	return err;
}

static int read_method(const struct ruby_reading *r, uint64_t code, uint32_t cookie,
		       struct runtime_code *c)
{
	uint8_t entry[RUBY_ENTRY_BYTES], definition[RUBY_DEFINITION_BYTES], body[RUBY_BODY_BYTES];
	const struct target_bytes e = TARGET_BYTES(entry), d = TARGET_BYTES(definition);
	uint64_t at, iseq;
	uint32_t type;
	int err = target_read(r->m, code, entry, sizeof(entry));

	at = err ? 0 : target_bytes_u64(e, RUBY_ENTRY_DEFINITION);
	if (!err)
		err = target_read(r->m, at, definition, sizeof(definition));
	if (!err && target_bytes_u32(d, RUBY_DEFINITION_SERIAL) != cookie)
		err = -ESTALE;
	if (!err)
		err = join_name(r, target_bytes_u64(e, RUBY_ENTRY_OWNER),
				target_bytes_u64(d, RUBY_DEFINITION_NAME), &c->name);
	type = definition[0] & METHOD_TYPE_BITS;
	if (!err && type == METHOD_IN_RUBY) {
		iseq = target_bytes_u64(d, RUBY_DEFINITION_ISEQ);
		err = target_read_u64(r->m, iseq + RUBY_ISEQ_BODY, &iseq);
		if (!err)
			err = target_read(r->m, iseq, body, sizeof(body));
		if (!err)
			err = read_body(r, iseq, TARGET_BYTES(body), code, c);
	}
	/* It is still the same. */
	if (!err)
		err = target_read(r->m, at, definition, sizeof(definition));
	return err ? err : target_bytes_u32(d, RUBY_DEFINITION_SERIAL) == cookie ? 0 : -ESTALE;
}

int ruby_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		   enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		   struct runtime_code **out)
{
	struct ruby_image ruby;
	const struct ruby_reading r = { .r = &ruby, .m = &k->memory, .bias = bias };
	struct runtime_code *c = calloc(1, sizeof(*c));
	uint64_t first;
	int err = c ? target_read_u64(r.m, code, &first) : -ENOMEM;

	(void)kind;
	RUNTIME_GET_OWN(image, &ruby);
	if (!err && (first & RUBY_TYPE_MASK) == RUBY_T_IMEMO) {
		err = (first >> RUBY_IMEMO_SHIFT & 15) == RUBY_IMEMO_METHOD ? 0 : -ESTALE;
		if (!err)
			err = read_method(&r, code, cookie, c);
	} else if (!err) {
		err = read_other(&r, code, cookie, c);
	}
	if (err) {
		runtime_code_free(c);
		return err;
	}
	c->version = image->version;
	c->own = (void *)(uintptr_t)code;	/* only as a number */
	*out = c;
	return 0;
}

int ruby_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	uint32_t position = instruction - c->code_offset, nr, lo = 0;
	struct line_entry e;

	if (!c->code_bytes || instruction == RUBY_NO_INSTRUCTION((uintptr_t)c->own))
		return -ENODATA;		/* the first is in C */
	if (position > c->code_bytes || position % 8)
		return -ESTALE;
	/* The program counter is behind what is executed. */
	position = position ? position / 8 - 1 : 0;
	nr = c->lines_bytes / (uint32_t)sizeof(e);
	/* The last entry that begins at or before it. */
	while (nr > 1) {
		const uint32_t half = nr / 2;

		memcpy(&e, c->lines + (size_t)(lo + half) * sizeof(e), sizeof(e));
		lo += e.position <= position ? half : 0;
		nr = e.position <= position ? nr - half : half;
	}
	if (!nr)
		return -ENODATA;
	memcpy(&e, c->lines + (size_t)lo * sizeof(e), sizeof(e));
	*line = e.line;
	return e.line && e.line <= MAX_LINE ? 0 : -ENODATA;
}

int ruby_code_lines(const struct runtime_code *c, uint32_t instruction, struct runtime_line *lines,
		    size_t max)
{
	int err;

	(void)max;
	*lines = (struct runtime_line){ .name = c->name, .file = c->file,
					.first_line = c->first_line,
					.tier = c->code_bytes ? TIER_NONE : TIER_BUILTIN };
	err = ruby_code_line(c, instruction, &lines->line);
	return err == -ESTALE ? err : 1;
}
