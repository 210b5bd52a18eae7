/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/python/python_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/python/python_lines.h"
#include "src/runtimes/runtime_kind.h"

#define HEADER_BYTES 512		/* a code object, up to its instructions */
#define MAX_TABLE (1u << 20)		/* of lines */
#define MAX_CODE (64u << 20)
#define MAX_CHARACTERS 4096
#define MAX_REFERENCES (1u << 20)
#define NEVER_FREED 900000000u		/* 3.11: 999999999 at first */

/* Bits of state of a string: kind (bytes of a character), compact, ascii. */
#define STR_KIND(state) ((state) >> 2 & 7)
#define STR_COMPACT 0x20
#define STR_ASCII 0x40

struct reading {
	const struct python_layout *l;
	const struct target_memory *m;
	uint64_t code;
	uint8_t header[HEADER_BYTES];
	uint32_t header_bytes;
};

/*
 * Whether the first word of an object is a number of references. In freed memory allocators keep an
 * address there, or 0. Numbers of objects that are never freed have their highest bits set; 3.14
 * has flags above bit 48.
 */
static bool is_alive(uint64_t word)
{
	const uint32_t references = (uint32_t)word;

	return !(word >> 32 & 0xffff) && references &&
	       (references < MAX_REFERENCES || references >= NEVER_FREED);
}

static uint64_t word_at(const struct reading *r, uint32_t offset)
{
	return target_bytes_u64((struct target_bytes){ r->header, r->header_bytes }, offset);
}

static uint32_t u32_at(const struct reading *r, uint32_t offset)
{
	return (uint32_t)word_at(r, offset);
}

static uint32_t cookie_of(const struct reading *r)
{
	return u32_at(r, r->l->code_version ? r->l->code_version : r->l->code_lines);
}

/* What can be no character is U+FFFD. */
static void put_utf8(struct byte_buf *b, uint32_t c)
{
	if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		bb_u8(b, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		bb_u8(b, (uint8_t)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			bb_u8(b, (uint8_t)(0xe0 | c >> 12));
		} else {
			bb_u8(b, (uint8_t)(0xf0 | c >> 18));
			bb_u8(b, (uint8_t)(0x80 | (c >> 12 & 63)));
		}
		bb_u8(b, (uint8_t)(0x80 | (c >> 6 & 63)));
	}
	bb_u8(b, (uint8_t)(0x80 | (c & 63)));
}

static int put_characters(const struct reading *r, uint64_t at, unsigned kind, uint64_t nr,
			  size_t max, struct byte_buf *b)
{
	uint8_t text[4 * MAX_CHARACTERS];
	int err = target_read(r->m, at, text, nr * kind);

	if (err)
		return err;
	for (uint64_t i = 0; i < nr && b->nr + 5 < max; i++) {
		uint32_t c = 0;

		memcpy(&c, text + i * kind, kind);
		put_utf8(b, c);
	}
	bb_u8(b, 0);
	return b->bad ? -ENOMEM : 0;
}

/* Reads a string object; *out is at most max bytes with its NUL. */
static int read_string(const struct reading *r, uint64_t at, size_t max, char **out)
{
	const struct python_layout *l = r->l;
	struct byte_buf b = { 0 };
	uint64_t length, references;
	uint32_t state;
	unsigned kind;
	int err = at ? target_read_u64(r->m, at, &references) : -ESTALE;

	if (!err && !is_alive(references))
		return -ESTALE;
	if (!err)
		err = target_read_u64(r->m, at + l->str_length, &length);
	if (!err)
		err = target_read(r->m, at + l->str_state, &state, sizeof(state));
	if (err)
		return err;
	kind = STR_KIND(state);
	if (!(state & STR_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
		return -ESTALE;
	if (length > MAX_CHARACTERS)
		length = MAX_CHARACTERS;
	err = put_characters(r, at + (state & STR_ASCII ? l->str_ascii : l->str_compact), kind,
			     length, max, &b);
	if (err)
		bb_release(&b);
	else
		*out = (char *)b.v;
	return err;
}

static int read_lines(const struct reading *r, struct runtime_code *c)
{
	uint64_t at = word_at(r, r->l->code_lines), size, done = 0;
	int err = at ? target_read_u64(r->m, at + r->l->bytes_size, &size) : -ESTALE;

	if (err)
		return err;
	if (size > MAX_TABLE)
		return -ESTALE;
	c->lines = malloc(size + 1);
	if (!c->lines)
		return -ENOMEM;
	while (!err && done < size) {
		uint64_t n = size - done < TARGET_READ_BYTES ? size - done : TARGET_READ_BYTES;

		err = target_read(r->m, at + r->l->bytes_value + done, c->lines + done, n);
		done += n;
	}
	c->lines_bytes = (uint32_t)size;
	return err;
}

/* How many bytes of instructions the code has: since 3.11 in the object, before in another one. */
static int read_code_size(const struct reading *r, struct runtime_code *c)
{
	uint64_t size = word_at(r, r->l->var_size) * 2;
	int err = 0;

	c->code_offset = r->l->code_bytes;
	if (r->l->minor <= 10) {
		c->code_offset = 0;
		err = target_read_u64(r->m, word_at(r, r->l->code_bytes) + r->l->bytes_size, &size);
	}
	if (err || size > MAX_CODE)
		return err ? err : -ESTALE;
	c->code_bytes = (uint32_t)size;
	return 0;
}

static int read_header(struct reading *r, const struct runtime_image *image, uint64_t bias,
		       uint32_t cookie)
{
	uint32_t end = r->l->code_lines + 8;
	int err;

	if (r->l->minor >= 11 && r->l->code_bytes > end)
		end = r->l->code_bytes;
	if (end > HEADER_BYTES)
		return -ENOTSUP;
	r->header_bytes = end;
	err = target_read(r->m, r->code, r->header, end);
	if (err)
		return err;
	if (!is_alive(word_at(r, 0)))
		return -ESTALE;
	if (image->code_type_vaddr &&
	    word_at(r, r->l->object_type) != image->code_type_vaddr + bias)
		return -ESTALE;
	return cookie_of(r) == cookie ? 0 : -ESTALE;
}

/* Whether the object is still the one whose header was read. */
static int check_unchanged(const struct reading *r)
{
	const uint32_t fields[] = { r->l->object_type, r->l->code_file, r->l->code_name,
				    r->l->code_qualname, r->l->code_lines };
	struct reading again = *r;
	int err = target_read(r->m, r->code, again.header, r->header_bytes);

	if (err)
		return err;
	if (!is_alive(word_at(&again, 0)))
		return -ESTALE;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i] && word_at(&again, fields[i]) != word_at(r, fields[i]))
			return -ESTALE;
	return cookie_of(&again) == cookie_of(r) ? 0 : -ESTALE;
}

int python_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		     enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		     struct runtime_code **out)
{
	struct python_layout l;
	struct reading r = { .l = &l, .m = &k->memory, .code = code };
	struct runtime_code *c = calloc(1, sizeof(*c));
	uint32_t name;
	int err;

	(void)kind;
	RUNTIME_GET_OWN(image, &l);
	name = l.code_qualname ? l.code_qualname : l.code_name;
	err = c ? read_header(&r, image, bias, cookie) : -ENOMEM;
	if (!err)
		err = read_string(&r, word_at(&r, name), RUNTIME_NAME_BYTES, &c->name);
	if (!err)
		err = read_string(&r, word_at(&r, l.code_file), RUNTIME_FILE_BYTES, &c->file);
	if (!err)
		err = read_code_size(&r, c);
	if (!err)
		err = read_lines(&r, c);
	if (!err)
		err = check_unchanged(&r);
	if (err) {
		runtime_code_free(c);
		return err;
	}
	c->first_line = u32_at(&r, l.code_first_line);
	c->version = image->version;
	*out = c;
	return 0;
}

int python_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	const uint32_t minor = c->version >> 16 & 0xff;
	int64_t offset = (int64_t)(int32_t)instruction - c->code_offset;

	if (minor == 10)
		offset *= 2;		/* there it counts instructions */
	if (offset >= c->code_bytes || offset < -2)
		return -ESTALE;
	return python_line_of(minor, c->first_line, c->lines, c->lines_bytes, offset, line);
}
