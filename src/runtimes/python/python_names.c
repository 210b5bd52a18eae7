/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/python/python_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/python/python_lines.h"
#include "src/runtimes/python/python_strings.h"
#include "src/runtimes/runtime_kind.h"

#define HEADER_BYTES 512		/* a code object, up to its instructions */
#define MAX_TABLE (1u << 20)		/* of lines */
#define MAX_CODE (64u << 20)

struct reading {
	const struct python_layout *l;
	const struct target_memory *m;
	uint64_t code;
	uint8_t header[HEADER_BYTES];
	uint32_t header_bytes;
};

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
	if (!python_is_alive(word_at(r, 0)))
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
	if (!python_is_alive(word_at(&again, 0)))
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
		err = python_string_read(&l, r.m, word_at(&r, name), RUNTIME_NAME_BYTES, &c->name);
	if (!err)
		err = python_string_read(&l, r.m, word_at(&r, l.code_file), RUNTIME_FILE_BYTES,
					 &c->file);
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
