/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where CPython keeps what a frame walk and names need: offsets in its structs. They differ with
 * the minor version. Up to 3.12 they are rows of a table here; since 3.13 an interpreter tells most
 * of them itself (struct _Py_DebugOffsets at the start of _PyRuntime, Include/internal).
 *
 * Three shapes of frames:
 *
 *	3.8 - 3.10	PyFrameObject, one for each run of the loop
 *	3.11		records in blocks; those of one run of the loop end with one that has
 *			is_entry; a struct _PyCFrame on the C stack leads to the innermost one
 *	3.12 on		the same, but a record of its own on the C stack (the shim) stands between
 *			those of one run of the loop and of the next
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct python_layout {
	uint32_t minor;			/* of version 3 */
	/* Bytes from the start of the struct. */
	uint32_t interpreters_head;	/* _PyRuntime: the first interpreter */
	/* _PyRuntime: the state that has the GIL; 0: the key leads to that of the same thread. */
	uint32_t current_state;
	/* PyInterpreterState */
	uint32_t interpreter_next, threads_head;
	uint32_t interpreter_modules;	/* sys.modules */
	/* PyThreadState */
	uint32_t thread_next, thread_interpreter, thread_id, thread_frame;
	/* Frames, and 3.11's and 3.12's struct _PyCFrame. */
	uint32_t cframe_frame, cframe_previous;
	uint32_t frame_code, frame_previous, frame_instruction;
	uint32_t frame_owner;		/* 3.11: is_entry */
	/* Code objects. */
	uint32_t code_first_line, code_file, code_name, code_qualname, code_lines;
	uint32_t code_version;		/* a number that no other code object has had; 0: none */
	uint32_t code_bytes;		/* where instructions begin; 3.8 - 3.10: the bytes object */
	/* Objects. */
	uint32_t str_ascii, str_compact;	/* where the characters begin */
	uint32_t str_length, str_state;
	uint32_t bytes_size, bytes_value;
	uint32_t object_type, var_size;
	uint32_t module_dict;
	uint32_t is_free_threaded;
};

/* 0, or -ENOTSUP: no such row. */
int python_layout_of(uint32_t minor, struct python_layout *out);

#define PYTHON_OFFSETS_BYTES 1024	/* enough for all fields that are read */

/*
 * By what the interpreter says: len bytes at _PyRuntime. 0; -ENOTSUP: it is another version;
 * -EBADMSG: that cannot be.
 */
int python_layout_told(const void *offsets, uint32_t len, struct python_layout *out);

bool python_layout_is_sound(const struct python_layout *l);
