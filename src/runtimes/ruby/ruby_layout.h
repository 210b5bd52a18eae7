/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where CRuby (MRI) keeps what a frame walk and names need: offsets in its structs, by version.
 *
 * A Ruby thread has an execution context (EC), which changes with its fiber. It has the VM stack:
 * control frames (CFP) lie one behind the other at its upper end, the innermost one lowest. A frame
 * leads to its instruction sequence (ISEQ), whose body has all that it says, and to its environment
 * (EP), of which three words are in front: a method entry, a block or an outer environment, flags.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How the EC of a thread is reached. */
enum ruby_way {
	RUBY_WAY_MODULE,		/* thread-local, of the module whose number a word has */
	RUBY_WAY_OFFSET_WORD,		/* thread-local: a word has the offset from the pointer */
	RUBY_WAY_OFFSET,		/* thread-local, at a known offset (the program itself) */
	RUBY_WAY_GLOBAL,		/* a variable has that of the thread which runs */
	RUBY_WAYS
};

struct ruby_layout {
	uint32_t version;		/* 0x0301: 3.1 */
	uint32_t frame_bytes;
	uint32_t frame_jit;		/* where YJIT returns to; 0: there is no such field */
	uint32_t line_bytes;		/* of an entry about lines; the line is its first word */
	/* Offsets from the start of the struct. */
	uint32_t thread_of_ec, pointer_of_thread;	/* RUBY_WAY_GLOBAL */
	uint32_t threads_of_vm;		/* the list of threads, linked by their first word */
	uint32_t ec_of_thread;
	uint32_t last_op_id;		/* numbers of symbols up to this one are operators */
	uint32_t body_lines;		/* entries, their number 16 behind, the set 24 behind */
	uint32_t body_line_bytes;	/* of the first line's number: 4; 8: an object */
	uint32_t string_text;		/* of embedded strings */
	uint32_t string_has_length;	/* a field of all strings; else embedded: in the flags */
	uint32_t array_length_mask;	/* of embedded arrays, in the flags from bit 15 on */
	uint32_t class_path, class_attached;	/* fields; 0: variables of the class */
	uint32_t class_singleton;	/* the bit of its flags */
	uint32_t shapes_of_vm;		/* the list of shapes; 0: classes have tables instead */
};

/* These offsets are equal in all versions that are known. */
enum {
	RUBY_EC_STACK = 0, RUBY_EC_STACK_WORDS = 8, RUBY_EC_FRAME = 16,
	RUBY_FRAME_PC = 0, RUBY_FRAME_ISEQ = 16, RUBY_FRAME_EP = 32,
	RUBY_ENVIRONMENT_ENTRY = -16,	/* from EP on, where its flags are */
	RUBY_ISEQ_BODY = 16,
	RUBY_BODY_TYPE = 0, RUBY_BODY_SIZE = 4, RUBY_BODY_CODE = 8,
	RUBY_BODY_PATH = 64, RUBY_BODY_BASE_LABEL = 72, RUBY_BODY_LABEL = 80,
	RUBY_BODY_FIRST_LINE = 88,
	/* From body_lines on; the last is the sequence that it is in. */
	RUBY_LINES_NR = 16, RUBY_LINES_POSITIONS = 24, RUBY_LINES_PARENT = 48,
	RUBY_BODY_BYTES = 176,
	RUBY_BODY_OF_EVAL = 6,		/* a type */
	RUBY_ENTRY_DEFINITION = 16, RUBY_ENTRY_OWNER = 32, RUBY_ENTRY_BYTES = 40,
	RUBY_SVAR_ENTRY = 8,
	RUBY_DEFINITION_ISEQ = 8, RUBY_DEFINITION_NAME = 32, RUBY_DEFINITION_SERIAL = 40,
	RUBY_DEFINITION_BYTES = 48,
	RUBY_CLASS_EXTENSION = 24, RUBY_EXTENSION_VARIABLES = 8,
	/* With shapes: the values; and of a shape. */
	RUBY_CLASS_VALUES = 32,
	RUBY_SHAPE_ID = 8, RUBY_SHAPE_NR = 16, RUBY_SHAPE_TYPE = 24, RUBY_SHAPE_PARENT = 28,
	RUBY_SHAPE_BYTES = 32, RUBY_SHAPE_OF_VARIABLE = 1,
};

/* Flags of a frame, in its environment. */
#define RUBY_FRAME_MAGIC 0x7fff0000
#define RUBY_MAGIC_METHOD 0x11110000
#define RUBY_MAGIC_CFUNC 0x55550000
#define RUBY_FRAME_FINISH 0x20		/* C has called it */

/* Flags of an object: type, and for internal ones (T_IMEMO) which. */
#define RUBY_TYPE_MASK 0x1f
enum {
	RUBY_T_CLASS = 2, RUBY_T_MODULE = 3, RUBY_T_STRING = 5, RUBY_T_ARRAY = 7, RUBY_T_HASH = 8,
	RUBY_T_IMEMO = 0x1a, RUBY_T_ICLASS = 0x1c,
};
#define RUBY_IMEMO_SHIFT 12
enum { RUBY_IMEMO_SVAR = 2, RUBY_IMEMO_METHOD = 6 };

/* What follows from the file besides the layout: virtual addresses of it. */
struct ruby_image {
	struct ruby_layout layout;
	uint32_t way;			/* enum ruby_way */
	uint32_t loop_is_core;		/* it is vm_exec_core(), and not rb_vm_exec() around that */
	int64_t offset;			/* in the module's block, or from the thread's pointer */
	uint64_t vm_vaddr;		/* ruby_current_vm_ptr */
	uint64_t data_vaddr, data_bytes;	/* initialized; has the table of symbols */
	uint64_t text_vaddr, text_bytes;	/* all code, which has that of the loop */
};

/* 0, or -ENOTSUP: no such row. */
int ruby_layout_of(uint32_t version, struct ruby_layout *out);

bool ruby_image_is_sound(const struct ruby_image *r);
