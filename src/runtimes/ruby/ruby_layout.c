/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows come from the headers of Debian's ruby2.7-dev 2.7.4 and ruby3.1-dev 3.1.2, and from the
 * sources of 3.2.3 and 3.3.8, by offsetof(); structs do not change within a minor version. Those of
 * 3.0 and 3.4 follow from what 3.0.2 has other than 3.1, and 3.4.3 other than 3.3. All but that of
 * 3.0 were compared with processes; a row that is wrong gives no names, as what is read is checked.
 */
#include "src/runtimes/ruby/ruby_layout.h"

#include <errno.h>
#include <stddef.h>

#define MAX_OFFSET 4096
#define MAX_DATA (64u << 20)

/* Up to 3.1. */
#define OBJECTS								\
	.body_lines = 120, .body_line_bytes = 8, .string_text = 16, .array_length_mask = 3, \
	.class_singleton = 1u << 12

/* Since 3.2. */
#define OBJECTS_OF_ANY_SIZE						\
	.body_lines = 112, .body_line_bytes = 4, .string_text = 24, .string_has_length = 1, \
	.array_length_mask = 127

static const struct ruby_layout rows[] = {
	{ .version = 0x0207, .frame_bytes = 56, .line_bytes = 8, .thread_of_ec = 56,
	  .pointer_of_thread = 72, .threads_of_vm = 312, .ec_of_thread = 32, .last_op_id = 0xa8,
	  OBJECTS },
	{ .version = 0x0300, .frame_bytes = 56, .line_bytes = 8, .last_op_id = 0xa8, OBJECTS },
	{ .version = 0x0301, .frame_bytes = 64, .frame_jit = 56, .line_bytes = 12,
	  .last_op_id = 0xa9, OBJECTS },
	{ .version = 0x0302, .frame_bytes = 64, .frame_jit = 56, .line_bytes = 12,
	  .last_op_id = 0xa9, .shapes_of_vm = 376, .class_singleton = 1u << 12,
	  OBJECTS_OF_ANY_SIZE },
	{ .version = 0x0303, .frame_bytes = 56, .frame_jit = 48, .line_bytes = 12,
	  .last_op_id = 0xa9, .class_path = 152, .class_attached = 128,
	  .class_singleton = 1u << 12, OBJECTS_OF_ANY_SIZE },
	{ .version = 0x0304, .frame_bytes = 56, .frame_jit = 48, .line_bytes = 12,
	  .last_op_id = 0xaa, .class_path = 152, .class_attached = 128,
	  .class_singleton = 1u << 13, OBJECTS_OF_ANY_SIZE },
};

int ruby_layout_of(uint32_t version, struct ruby_layout *out)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].version != version)
			continue;
		*out = rows[i];
		return 0;
	}
	return -ENOTSUP;
}

bool ruby_image_is_sound(const struct ruby_image *r)
{
	const struct ruby_layout *l = &r->layout;

	return l->frame_bytes >= 48 && l->frame_bytes <= 256 && !(l->frame_bytes % 8) &&
	       l->frame_jit < l->frame_bytes && !(l->frame_jit % 8) &&
	       l->line_bytes >= 4 && l->line_bytes <= 64 && l->thread_of_ec < MAX_OFFSET &&
	       l->pointer_of_thread < MAX_OFFSET && l->threads_of_vm < MAX_OFFSET &&
	       l->ec_of_thread < MAX_OFFSET && l->body_lines <= 120 &&
	       (l->body_line_bytes == 4 || l->body_line_bytes == 8) &&
	       l->string_text < MAX_OFFSET && l->class_path < MAX_OFFSET &&
	       l->class_attached < MAX_OFFSET && l->shapes_of_vm < MAX_OFFSET &&
	       r->way < RUBY_WAYS && r->data_bytes <= MAX_DATA;
}
