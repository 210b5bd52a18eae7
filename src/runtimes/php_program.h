/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program of PHP, by the version's offsets. Constants of a process:
 *
 *	0	address of the pointer to the innermost call
 *
 * The instruction of a frame is the distance of its operation from the function, modulo 2^32; 0 in
 * a function that is written in C. Its cookie, see php_cookie().
 */
#pragma once

#include "src/runtimes/php_layout.h"
#include "unwind/frame_program.h"

enum { PHP_CONST_CURRENT };

/* 0 or -EINVAL. */
int php_program(const struct php_layout *l, struct frame_program *out);

/*
 * Functions of one request are where those of the last one were, if OPcache does not keep them, and
 * code of files and of eval lives for a moment only. So no field alone tells them apart.
 *
 *	functions		where the name and the operations are, first and last line
 *	code without a name	the hash of the file's name, where the operations are, first line,
 *				type, and PHP_CALLED_BY_C if it was not included by other code
 *	functions in C		0: they stay
 */
#define PHP_COOKIE_FIRST_SHIFT 20
#define PHP_COOKIE_LAST_SHIFT 24		/* last << 32 | first, to the right */

struct php_identity {
	uint64_t name;			/* or the hash, if there is none */
	uint64_t opcodes;
	uint64_t lines;			/* last << 32 | first */
	uint32_t other;			/* without a name: type + PHP_CALLED_BY_C */
};

static inline uint32_t php_cookie(const struct php_identity *i)
{
	return (uint32_t)(i->name + i->opcodes + (i->lines << PHP_COOKIE_FIRST_SHIFT) +
			  (i->lines >> PHP_COOKIE_LAST_SHIFT) + i->other);
}
