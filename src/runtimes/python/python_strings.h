/* SPDX-License-Identifier: GPL-2.0-or-later */
/* String objects of CPython, read from a process that may change or free them meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_layout;
struct target_memory;

/*
 * Whether the first word of an object is a number of references. In freed memory allocators keep an
 * address there, or 0. Numbers of objects that are never freed have their highest bits set; 3.14
 * has flags above bit 48.
 */
bool python_is_alive(uint64_t word);

/*
 * Reads the string object at `at` as UTF-8; *out is the caller's, and has at most max bytes with
 * its NUL. 0; -ESTALE: there is no string; -ENOMEM; or an -errno of reading.
 */
int python_string_read(const struct python_layout *l, const struct target_memory *m, uint64_t at,
		       size_t max, char **out);

#define PYTHON_KEY_BYTES 256		/* of a string object that can be compared */

/* Whether the object is the ASCII string `text`. What cannot be read is another one. */
bool python_string_is(const struct python_layout *l, const struct target_memory *m, uint64_t at,
		      const char *text);
