/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/php/php_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/php/php_layout.h"
#include "src/runtimes/php/php_program.h"
#include "src/runtimes/runtime_kind.h"

#define HEADER_BYTES 256		/* a function, up to its lines */
#define MAX_OPS (1u << 17)
#define OPS_AT_ONCE (TARGET_READ_BYTES / PHP_OP_BYTES)
/* An exception that is being thrown is an operation of its own, in executor_globals. */
#define GLOBALS_BYTES 4096

/* The low bits of type_info say what has the counter in front: a string. */
#define TYPE_MASK 15
#define TYPE_STRING 6

struct reading {
	const struct php_layout *l;
	const struct target_memory *m;
	uint64_t func;
	uint32_t bytes;
	bool is_called_by_c;
	uint8_t header[HEADER_BYTES];
};

static uint64_t word_at(const struct reading *r, uint32_t offset)
{
	return target_bytes_u64((struct target_bytes){ r->header, r->bytes }, offset);
}

static uint32_t u32_at(const struct reading *r, uint32_t offset)
{
	return (uint32_t)word_at(r, offset);
}

static bool is_internal(const struct reading *r)
{
	return r->header[PHP_FUNC_TYPE] == PHP_INTERNAL;
}

/* Appends the string at to text, which has max bytes with its NUL, as far as it fits. */
static int append_string(const struct reading *r, uint64_t at, size_t max, char *text)
{
	uint8_t head[PHP_STRING_VALUE];
	size_t have = strlen(text), n;
	uint64_t length;
	uint32_t info;
	char end;
	int err = at ? target_read(r->m, at, head, sizeof(head)) : -ESTALE;

	if (err)
		return err;
	memcpy(&info, head + PHP_STRING_INFO, sizeof(info));
	memcpy(&length, head + PHP_STRING_LENGTH, sizeof(length));
	if ((info & TYPE_MASK) != TYPE_STRING || length > TARGET_READ_BYTES)
		return -ESTALE;
	n = length < max - 1 - have ? length : max - 1 - have;
	err = target_read(r->m, at + PHP_STRING_VALUE, text + have, n);
	text[have + (err ? 0 : n)] = 0;
	if (!err)
		err = target_read(r->m, at + PHP_STRING_VALUE + length, &end, 1);
	return !err && end ? -ESTALE : err;
}

/* Appends as much as fits into max bytes. */
static void append(char *text, const char *more, size_t max)
{
	size_t have = strlen(text);

	snprintf(text + have, max - have, "%s", more);
}

/* What code without a name is called. */
static const char *name_of_code(const struct reading *r)
{
	if (r->header[PHP_FUNC_TYPE] == PHP_EVAL)
		return "{eval}";
	return r->is_called_by_c ? "{main}" : "{include}";
}

static int read_name(const struct reading *r, char *text, size_t max)
{
	const uint64_t name = word_at(r, PHP_FUNC_NAME), scope = word_at(r, PHP_FUNC_SCOPE);
	static const char has_class[] = "{closure:";
	char own[RUNTIME_NAME_BYTES] = "";
	uint64_t class;
	int err = 0;

	if (!name) {
		strcpy(text, name_of_code(r));
		return is_internal(r) ? -ESTALE : 0;
	}
	err = append_string(r, name, sizeof(own), own);
	if (!err && scope && strncmp(own, has_class, sizeof(has_class) - 1)) {
		err = target_read_u64(r->m, scope + PHP_CLASS_NAME, &class);
		if (!err)
			err = append_string(r, class, max, text);
		if (!err)
			append(text, "::", max);
	}
	if (!err)
		append(text, own, max);
	return err;
}

/* .lines: first the distance of executor_globals, then the line of each operation. */
static int read_lines(const struct reading *r, uint64_t globals, struct runtime_code *c)
{
	const uint64_t ops = word_at(r, r->l->opcodes);
	const uint32_t nr = u32_at(r, r->l->last), distance = (uint32_t)(globals - r->func);
	uint8_t *piece;
	uint32_t *lines;
	int err = 0;

	if (!nr || nr > MAX_OPS || ops % 8)
		return -ESTALE;
	lines = malloc((nr + 1) * sizeof(*lines));
	piece = malloc(TARGET_READ_BYTES);
	c->lines = (uint8_t *)lines;
	if (!lines || !piece)
		err = -ENOMEM;
	else
		lines[0] = distance;
	for (uint32_t done = 0; done < nr && !err; done += OPS_AT_ONCE) {
		uint32_t n = nr - done < OPS_AT_ONCE ? nr - done : OPS_AT_ONCE;

		err = target_read(r->m, ops + (uint64_t)done * PHP_OP_BYTES, piece,
				  n * PHP_OP_BYTES);
		for (uint32_t i = 0; i < n && !err; i++)
			memcpy(&lines[1 + done + i], piece + i * PHP_OP_BYTES + PHP_OP_LINE, 4);
	}
	free(piece);
	c->lines_bytes = (nr + 1) * sizeof(*lines);
	c->code_offset = (uint32_t)(ops - r->func);
	c->code_bytes = nr * PHP_OP_BYTES;
	return err;
}

/* Whether the header is that of the function which the frame was of. */
static int check(struct reading *r, uint32_t cookie)
{
	const uint8_t type = r->header[PHP_FUNC_TYPE];
	const bool is_code = !word_at(r, PHP_FUNC_NAME);
	uint64_t hash = 0;
	uint32_t more;
	int err = 0;

	if (type == PHP_INTERNAL)
		return 0;
	if (type != PHP_USER && type != PHP_EVAL)
		return -ESTALE;
	if (is_code)
		err = target_read_u64(r->m, word_at(r, r->l->filename) + PHP_STRING_HASH, &hash);
	if (err)
		return err;
	more = cookie - php_cookie(word_at(r, r->l->line_start), hash);
	r->is_called_by_c = more;
	return !more || (more == PHP_CALLED_BY_C && is_code) ? 0 : -ESTALE;
}

static int read_header(struct reading *r, uint32_t cookie)
{
	int err;

	r->bytes = r->l->line_start + 8;
	if (r->bytes > HEADER_BYTES)
		return -ENOTSUP;
	err = target_read(r->m, r->func, r->header, r->bytes);
	return err ? err : check(r, cookie);
}

static int check_unchanged(const struct reading *r, uint32_t cookie)
{
	struct reading again = *r;
	int err = read_header(&again, cookie);

	if (err)
		return err;
	return word_at(&again, PHP_FUNC_NAME) == word_at(r, PHP_FUNC_NAME) &&
		       word_at(&again, PHP_FUNC_SCOPE) == word_at(r, PHP_FUNC_SCOPE) &&
		       (is_internal(r) || (word_at(&again, r->l->opcodes) ==
						   word_at(r, r->l->opcodes) &&
					   word_at(&again, r->l->filename) ==
						   word_at(r, r->l->filename))) ? 0 : -ESTALE;
}

/* All of a user function but its name. */
static int read_source(const struct reading *r, uint64_t globals, struct runtime_code *c)
{
	int err = append_string(r, word_at(r, r->l->filename), RUNTIME_FILE_BYTES, c->file);

	if (err)
		return err;
	c->first_line = u32_at(r, r->l->line_start);
	return read_lines(r, globals, c);
}

int php_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		  enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		  struct runtime_code **out)
{
	struct php_image php;
	struct reading r = { .l = &php.layout, .m = &k->memory, .func = code };
	struct runtime_code *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	(void)kind;
	if (!c)
		return err;
	RUNTIME_GET_OWN(image, &php);
	c->name = calloc(1, RUNTIME_NAME_BYTES);
	c->file = calloc(1, RUNTIME_FILE_BYTES);
	if (c->name && c->file)
		err = read_header(&r, cookie);
	if (!err)
		err = read_name(&r, c->name, RUNTIME_NAME_BYTES);
	if (!err && !is_internal(&r))
		err = read_source(&r, image->state_vaddr + bias, c);
	if (!err)
		err = check_unchanged(&r, cookie);
	if (err) {
		runtime_code_free(c);
		return err;
	}
	if (is_internal(&r)) {
		free(c->file);
		c->file = NULL;
	}
	*out = c;
	return 0;
}

int php_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	const uint32_t offset = instruction - c->code_offset;
	uint32_t globals;

	if (!c->lines)
		return -ENODATA;
	memcpy(&globals, c->lines, sizeof(globals));
	if (instruction - globals < GLOBALS_BYTES)
		return -ENODATA;
	if (offset >= c->code_bytes || offset % PHP_OP_BYTES)
		return -ESTALE;
	memcpy(line, c->lines + sizeof(*line) * (1 + offset / PHP_OP_BYTES), sizeof(*line));
	return *line ? 0 : -ENODATA;
}
