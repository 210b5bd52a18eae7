/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interned byte strings: equal bytes get the same dense id. Id 0 is always the empty string.
 * Strings may hold any byte, NUL too; every stored copy is followed by a NUL for convenience.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);			/* NULL: out of memory */
void intern_free(struct intern *in);			/* NULL is fine */

/* Id of these bytes, added if new. Returns IX_NONE (UINT32_MAX) when out of memory. */
uint32_t intern_bytes(struct intern *in, const void *data, size_t len);
uint32_t intern_str(struct intern *in, const char *s);	/* NULL counts as "" */

uint32_t intern_count(const struct intern *in);		/* ids are 0 .. count - 1 */
size_t intern_memory(const struct intern *in);		/* bytes that it takes */
/* borrowed; len may be NULL */
const char *intern_get(const struct intern *in, uint32_t id, size_t *len);
