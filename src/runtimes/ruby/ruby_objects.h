/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of CRuby in the memory of a process: strings, arrays, names of symbols, paths of classes.
 * All is foreign, and may change while it is read: what cannot be an object is -ESTALE, other
 * errors are those of reading.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/ruby/ruby_layout.h"
#include "src/runtimes/target_memory.h"

struct ruby_reading {
	const struct ruby_image *r;
	const struct target_memory *m;
	uint64_t bias;
};

/* The type of an object (RUBY_T_...) by its flags, or an error. */
int ruby_type(const struct ruby_reading *r, uint64_t object, uint64_t *flags);

/*
 * Text of a string, at most max bytes with its NUL; a NUL inside becomes U+FFFD. The caller frees.
 */
int ruby_string(const struct ruby_reading *r, uint64_t string, size_t max, char **out);

/* An element of an array. */
int ruby_element(const struct ruby_reading *r, uint64_t array, uint64_t i, uint64_t *out);

/* What a symbol's number is called. The caller frees. */
int ruby_symbol(const struct ruby_reading *r, uint64_t id, size_t max, char **out);

/*
 * "A::B#" for a class or a module, "A::B." for what only that object has (its singleton class), ""
 * where there is no such name. The caller frees.
 */
int ruby_class_prefix(const struct ruby_reading *r, uint64_t class, size_t max, char **out);
