/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where PHP keeps what a frame walk and names need: offsets in its structs, by version. A call has
 * a struct _zend_execute_data, which leads to that of its caller; the first one is a global. It has
 * the function (zend_function: zend_op_array, or zend_internal_function of one written in C), and
 * the operation that it is at, which knows its line.
 *
 * These are equal in all versions, for 64 bits: zend_execute_data, zend_op, zend_string, the first
 * fields of a zend_function, the name of a class.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	PHP_DATA_OPLINE = 0, PHP_DATA_FUNC = 24, PHP_DATA_THIS = 32,
	PHP_DATA_INFO = 40, PHP_DATA_PREVIOUS = 48,
	PHP_FUNC_TYPE = 0, PHP_FUNC_NAME = 8, PHP_FUNC_SCOPE = 16,
	PHP_CLASS_NAME = 8,
	PHP_STRING_INFO = 4, PHP_STRING_HASH = 8, PHP_STRING_LENGTH = 16, PHP_STRING_VALUE = 24,
	PHP_OP_BYTES = 32, PHP_OP_LINE = 24,
};

/* The type of a function. */
enum { PHP_INTERNAL = 1, PHP_USER = 2, PHP_EVAL = 4 };

/* A bit of PHP_DATA_INFO: C has called, so this run of the loop ends here (ZEND_CALL_TOP). */
#define PHP_CALLED_BY_C (1 << 17)
/* The call is of code without a name: of a file, or of eval (ZEND_CALL_CODE). */
#define PHP_OF_CODE (1 << 16)

struct php_layout {
	uint32_t version;		/* 0x0802: 8.2 */
	uint32_t current;		/* executor_globals: the innermost call */
	uint32_t last, opcodes;		/* zend_op_array: number of operations, and they */
	uint32_t filename, line_start;
	/* zend_generator: its call, the one that it delegates to (node.parent), its placeholder. */
	uint32_t generator_call, generator_parent, generator_fake;
};

/* What follows from the file besides the layout: virtual addresses of it. */
struct php_image {
	struct php_layout layout;
	uint32_t has_threads;		/* ZTS */
	/* The loop's frame behind its prologue, in bytes; 0: not known. */
	uint32_t frame_bytes;
	uint64_t body_vaddr;
	uint64_t text_vaddr, text_bytes;
};

/* version: as above. 0, or -ENOTSUP: no such row. */
int php_layout_of(uint32_t version, struct php_layout *out);

bool php_layout_is_sound(const struct php_layout *l);
