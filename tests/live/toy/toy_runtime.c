/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Toy 1 (toy.c), as docs/ARCHITECTURE.md, "Adding a runtime", has a runtime added: all of it in one file, because it has one version, and
 * nothing of its structs is ever moved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/model/record.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/runtime_loops.h"
#include "unwind/frame_builder.h"

/* ---- layout: struct toy_frame, struct toy_code ---- */

enum { FRAME_CODE = 0, FRAME_CALLER = 8, FRAME_INSTRUCTION = 16, FRAME_FROM_C = 20 };
enum { CODE_NAME = 0, CODE_FILE = 32, CODE_LINE = 64, CODE_COOKIE = 68, CODE_BYTES = 72 };

struct toy_image {
	uint32_t version;
};

static bool is_sound(const struct runtime_image *image)
{
	struct toy_image toy;

	RUNTIME_GET_OWN(image, &toy);
	return toy.version == 1;
}

/* ---- find ---- */

static int find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct exported_symbol v[] = { { .name = "toy_run" }, { .name = "toy_top" } };
	const struct toy_image toy = { 1 };
	int err = exported_symbols_find(img, v, 2);

	if (err)
		return err;
	if (!v[0].vaddr || !v[1].vaddr)
		return -ENOENT;
	out->version = toy.version << 24;
	out->state_vaddr = v[1].vaddr;
	RUNTIME_SET_OWN(out, &toy);
	err = runtime_loops_find(img, fd, data, &v[0], out);
	out->is_known = !err;
	return err;
}

/* ---- program ---- */

enum { TOP = 0, FRAME = 1, CODE = 4, CALLER = 5, INSTRUCTION = 6, FROM_C = 7, COOKIE = 8 };

static int program(const struct runtime_image *image, struct frame_program *out)
{
	const struct record_field fields[4] = {
		{ FRAME_CODE, 8 }, { FRAME_CALLER, 8 }, { FRAME_INSTRUCTION, 4 }, { FRAME_FROM_C, 4 },
	};
	struct frame_builder b;
	int next, again, end;

	(void)image;
	frame_builder_init(&b);
	next = frame_label(&b);
	again = frame_label(&b);
	end = frame_label(&b);
	frame_load(&b, FRAME, TOP, 0, 8 | LOAD_DIRECT);
	frame_place(&b, again);
	frame_jump_if_zero(&b, FRAME, end);
	frame_place(&b, next);
	frame_record_direct(&b, CODE, FRAME, fields);
	frame_load(&b, COOKIE, CODE, CODE_COOKIE, 4 | LOAD_DIRECT);
	frame_emit(&b, CODE, INSTRUCTION, COOKIE, 0, RUNTIME_FRAME_INTERPRETED);
	frame_move(&b, FRAME, CALLER);
	frame_jump_if_zero(&b, FROM_C, again);
	frame_yield(&b, again);
	frame_place(&b, end);
	frame_end(&b);
	return frame_builder_finish(&b, out);
}

static void constants(const struct runtime_image *image, uint64_t bias, struct unwind_runtime *rt)
{
	rt->consts[TOP] = image->state_vaddr + bias;
}

/* ---- names ---- */

static int code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k, enum runtime_frame_kind kind,
		     uint64_t code, uint32_t cookie, struct runtime_code **out)
{
	struct runtime_code *c = calloc(1, sizeof(*c));
	char object[CODE_BYTES] = "";
	const struct target_bytes b = { (const uint8_t *)object, sizeof(object) };
	int err = c ? target_read(&k->memory, code, object, sizeof(object)) : -ENOMEM;

	(void)image;
	(void)bias;
	(void)kind;
	if (!err && target_bytes_u32(b, CODE_COOKIE) != cookie)
		err = -ESTALE;
	if (!err) {
		c->name = strndup(object + CODE_NAME, CODE_FILE - CODE_NAME);
		c->file = strndup(object + CODE_FILE, CODE_LINE - CODE_FILE);
		c->first_line = target_bytes_u32(b, CODE_LINE);
		err = c->name && c->file ? 0 : -ENOMEM;
	}
	if (err) {
		runtime_code_free(c);
		return err;
	}
	*out = c;
	return 0;
}

/* Each instruction has a line. */
static int code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	*line = c->first_line + instruction;
	return 0;
}

const struct runtime_kind toy_runtime = {
	.name = "toy", .files = "toy", .lang = LANG_TOY, .versions = "1", .find = find, .is_sound = is_sound,
	.program = program, .constants = constants, .code_read = code_read, .code_line = code_line,
};
