/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/runtimes/python_find.h"
#include "src/runtimes/python_names.h"
#include "src/runtimes/python_program.h"
#include "src/runtimes/python_slot.h"

int runtime_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	memset(out, 0, sizeof(*out));
	return python_find(img, fd, data, out);
}

bool runtime_image_is_sound(const struct runtime_image *image)
{
	if (image->kind == RUNTIME_NONE || image->kind >= RUNTIME_KINDS || image->is_known > 1 ||
	    image->nr_loops > RUNTIME_MAX_LOOPS)
		return false;
	for (uint32_t i = 0; i < image->nr_loops; i++)
		if (image->loops[i].lo >= image->loops[i].hi)
			return false;
	return !image->is_known || python_layout_is_sound(&image->python);
}

void runtime_title(const struct runtime_image *image, char title[RUNTIME_TITLE_BYTES])
{
	const uint32_t v = image->version;
	int n;

	if (!v) {
		snprintf(title, RUNTIME_TITLE_BYTES, "python");
		return;
	}
	n = snprintf(title, RUNTIME_TITLE_BYTES, "python %u.%u", v >> 24, v >> 16 & 0xff);
	if (v & 0xffff)
		n += snprintf(title + n, RUNTIME_TITLE_BYTES - n, ".%u", v >> 8 & 0xff);
	if (image->python.is_free_threaded)
		snprintf(title + n, RUNTIME_TITLE_BYTES - n, " free-threaded");
}

int runtime_program(const struct runtime_image *image, struct frame_program *out)
{
	return image->is_known ? python_program(&image->python, out) : -ENOTSUP;
}

static uint64_t interpreters_head(const struct runtime_image *image, uint64_t bias)
{
	return image->state_vaddr + bias + image->python.interpreters_head;
}

void runtime_constants(const struct runtime_image *image, uint64_t bias,
		       uint64_t consts[PROGRAM_CONSTS])
{
	memset(consts, 0, PROGRAM_CONSTS * sizeof(consts[0]));
	consts[PYTHON_CONST_HEAD] = interpreters_head(image, bias);
}

int runtime_shorten(const struct runtime_image *image, uint64_t bias,
		    const struct target_memory *m, uint64_t consts[PROGRAM_CONSTS])
{
	int32_t slot;
	int err = python_slot_find(&image->python, m, interpreters_head(image, bias), &slot);

	if (!err)
		consts[PYTHON_CONST_SLOT] = (uint64_t)(int64_t)slot;
	return err;
}

int runtime_code_read(const struct runtime_image *image, uint64_t bias,
		      const struct target_memory *m, uint64_t code, uint32_t cookie,
		      struct runtime_code **out)
{
	return image->is_known ? python_code_read(image, bias, m, code, cookie, out) : -ENOTSUP;
}

int runtime_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	return python_code_line(c, instruction, line);
}

void runtime_code_free(struct runtime_code *c)
{
	if (!c)
		return;
	free(c->name);
	free(c->file);
	free(c->lines);
	free(c);
}
