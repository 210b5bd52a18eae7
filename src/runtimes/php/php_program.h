/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program of PHP, by the version's offsets. Constants of a process:
 *
 *	0	address of the pointer to the innermost call
 *	2, 3	of the loop: an instruction behind its prologue, and how far above its stack
 *		pointer its return address is
 *	4, 5	begin and end of the library's code
 *
 * The instruction of a frame is the distance of its operation from the function, modulo 2^32. In a
 * function that is written in C it means nothing.
 */
#pragma once

#include "src/runtimes/php/php_layout.h"
#include "unwind/frame_program.h"

enum {
	PHP_CONST_CURRENT,
	PHP_CONST_BODY = 2, PHP_CONST_RETURN, PHP_CONST_TEXT, PHP_CONST_TEXT_END,
};

/* 0 or -EINVAL. */
int php_program(const struct php_layout *l, struct frame_program *out);

/*
 * The cookie. Functions of one request are where those of the last one were, if OPcache does not
 * keep them, and code of files and of eval lives for a moment only. A function is told by its first
 * and last line, besides the operation that it is at, which must be one of its own. Code without a
 * name (a call says PHP_OF_CODE) is told by the hash of the file's name, too, and has
 * PHP_CALLED_BY_C added if it was not included by other code. The cookie of functions in C is
 * whatever is there: they stay.
 */
#define PHP_COOKIE_LAST_SHIFT 16		/* last << 32 | first, to the right */

/* hash: 0 for functions. */
static inline uint32_t php_cookie(uint64_t lines, uint64_t hash)
{
	return (uint32_t)(lines + (lines >> PHP_COOKIE_LAST_SHIFT) + hash);
}
