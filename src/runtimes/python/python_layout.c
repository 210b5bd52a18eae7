/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows come from the headers of CPython 3.8.18, 3.9.18, 3.10.13, 3.11.7 and 3.12.1; structs do
 * not change within a minor version. What _Py_DebugOffsets leaves out (fields of frames that have
 * only one place so far, co_version) is from the headers of 3.13.0 and 3.14.10.
 */
#include "src/runtimes/python/python_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define MAX_OFFSET (1u << 20)
#define MODULE_DICT 16
#define NR_FIELDS (sizeof(struct python_layout) / sizeof(uint32_t))

_Static_assert(sizeof(struct python_layout) % sizeof(uint32_t) == 0, "fields are words");

/* 3.8 to 3.10. */
#define FRAME_OBJECTS							\
	.interpreters_head = 32, .threads_head = 8,			\
	.thread_next = 8, .thread_interpreter = 16, .thread_id = 176,	\
	.thread_frame = 24,						\
	.frame_code = 32, .frame_previous = 24,				\
	.code_first_line = 40, .code_file = 104, .code_name = 112,	\
	.code_lines = 120, .code_bytes = 48

/* Objects are the same in all versions but for the parts of strings. */
#define OBJECTS(ascii, compact)						\
	.str_ascii = (ascii), .str_compact = (compact), .str_length = 16, .str_state = 32, \
	.bytes_size = 16, .bytes_value = 32, .object_type = 8, .var_size = 16, \
	.module_dict = MODULE_DICT

static const struct python_layout rows[] = {
	{ .minor = 8, FRAME_OBJECTS, .current_state = 1368, .interpreter_modules = 56,
	  .frame_instruction = 104, OBJECTS(48, 72) },
	{ .minor = 9, FRAME_OBJECTS, .current_state = 568, .interpreter_modules = 856,
	  .frame_instruction = 104, OBJECTS(48, 72) },
	{ .minor = 10, FRAME_OBJECTS, .current_state = 568, .interpreter_modules = 856,
	  .frame_instruction = 96, OBJECTS(48, 72) },
	{ .minor = 11,
	  .interpreters_head = 40, .threads_head = 16, .current_state = 576,
	  .interpreter_modules = 888,
	  .thread_next = 8, .thread_interpreter = 16, .thread_id = 152, .thread_frame = 56,
	  .cframe_frame = 8, .cframe_previous = 16,
	  .frame_code = 32, .frame_previous = 48, .frame_instruction = 56, .frame_owner = 68,
	  .code_first_line = 72, .code_file = 112, .code_name = 120, .code_qualname = 128,
	  .code_lines = 136, .code_bytes = 184, OBJECTS(48, 72) },
	{ .minor = 12,
	  .interpreters_head = 40, .threads_head = 72, .interpreter_modules = 944,
	  .thread_next = 8, .thread_interpreter = 16, .thread_id = 136, .thread_frame = 56,
	  .cframe_frame = 0, .cframe_previous = 8,
	  .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 70,
	  .code_first_line = 68, .code_file = 112, .code_name = 120, .code_qualname = 128,
	  .code_lines = 136, .code_version = 92, .code_bytes = 192, OBJECTS(40, 56) },
};

int python_layout_of(uint32_t minor, struct python_layout *out)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].minor != minor)
			continue;
		*out = rows[i];
		return 0;
	}
	return -ENOTSUP;
}

/* Where struct _Py_DebugOffsets has the offset that goes to a field of struct python_layout. */
struct told {
	uint16_t field;			/* offsetof() in struct python_layout */
	uint16_t at[2];			/* in 3.13, in 3.14 */
};

#define TOLD(field, in_13, in_14) { offsetof(struct python_layout, field), { in_13, in_14 } }

/* 3.14 has three words more in the part about interpreters, two in that about frames, and so on. */
static const struct told told[] = {
	TOLD(is_free_threaded, 16, 16),
	TOLD(interpreters_head, 40, 40),
	TOLD(interpreter_next, 64, 64),
	TOLD(threads_head, 72, 72),
	TOLD(interpreter_modules, 88, 96),
	TOLD(thread_next, 168, 192),
	TOLD(thread_interpreter, 176, 200),
	TOLD(thread_frame, 184, 208),
	TOLD(thread_id, 192, 216),
	TOLD(frame_previous, 232, 256),
	TOLD(frame_code, 240, 264),
	TOLD(frame_instruction, 248, 272),
	TOLD(frame_owner, 264, 288),
	TOLD(code_file, 280, 320),
	TOLD(code_name, 288, 328),
	TOLD(code_qualname, 296, 336),
	TOLD(code_lines, 304, 344),
	TOLD(code_first_line, 312, 352),
	TOLD(code_bytes, 344, 384),
	TOLD(object_type, 360, 408),
	TOLD(bytes_size, 520, 600),
	TOLD(bytes_value, 528, 608),
	TOLD(str_state, 544, 624),
	TOLD(str_length, 552, 632),
	TOLD(str_ascii, 560, 640),
};

static int take(const uint8_t *offsets, uint32_t len, int column, struct python_layout *out)
{
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const struct told *t = &told[i];
		uint64_t value;
		uint32_t small;

		if (t->at[column] + sizeof(value) > len)
			return -EBADMSG;
		memcpy(&value, offsets + t->at[column], sizeof(value));
		small = value < MAX_OFFSET ? (uint32_t)value : MAX_OFFSET;
		memcpy((uint8_t *)out + t->field, &small, sizeof(small));
	}
	return 0;
}

int python_layout_told(const void *offsets, uint32_t len, struct python_layout *out)
{
	const uint8_t *bytes = offsets;
	uint64_t version;
	int err, column;

	if (len < 16 || memcmp(bytes, "xdebugpy", 8))
		return -EBADMSG;
	memcpy(&version, bytes + 8, sizeof(version));
	if (version >> 16 != 0x030d && version >> 16 != 0x030e)
		return -ENOTSUP;
	*out = (struct python_layout){ .minor = version >> 16 & 0xff };
	column = out->minor - 13;
	err = take(bytes, len, column, out);
	if (err)
		return err;
	/* struct PyCompactUnicodeObject adds two words to struct PyASCIIObject. */
	out->str_compact = out->str_ascii + 16;
	out->var_size = out->bytes_size;
	out->module_dict = MODULE_DICT;
	out->code_version = out->code_first_line + 24;
	return python_layout_is_sound(out) ? 0 : -EBADMSG;
}

bool python_layout_is_sound(const struct python_layout *l)
{
	uint32_t v[NR_FIELDS];

	memcpy(v, l, sizeof(v));
	for (size_t i = 0; i < NR_FIELDS; i++)
		if (v[i] >= MAX_OFFSET)
			return false;
	/* Fields of frames are fields of one record of a program, and aligned. */
	return l->minor >= 8 && l->minor <= 14 && l->frame_code < 512 &&
	       l->frame_previous < 512 && l->frame_instruction < 512 && l->frame_owner < 512 &&
	       !(l->frame_code % 8) && !(l->frame_previous % 8) &&
	       !(l->frame_instruction % (l->minor >= 11 ? 8 : 4));
}
