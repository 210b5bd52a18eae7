/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings of V8 in the memory of a process: of one or two bytes a character, in one piece or put
 * together of others (cons, sliced, thin), inside of the heap or outside (external).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/target_memory.h"

/* The instance type of the object; it is no object, or cannot be read: 0 or -errno. */
int v8_type_of(const struct target_memory *m, uint64_t object, uint32_t *type);

/*
 * *out is the caller's: UTF-8 of at most max bytes with its NUL, cut where it is longer. 0;
 * -ESTALE: it is no string; -ENOMEM; or an -errno of reading.
 */
int v8_string_read(const struct target_memory *m, uint64_t string, size_t max, char **out);

/* Characters that lie in one piece. */
struct v8_text {
	uint64_t addr;
	uint32_t length;		/* characters */
	uint32_t width;			/* bytes of each: 1 or 2 */
};

/* 0; -ENOTSUP: it is in several pieces; or as above. */
int v8_text_find(const struct target_memory *m, uint64_t string, struct v8_text *out);
