/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which character of a script an instruction is from, and in which inlined function, as V8's tables
 * of source positions say it, for bytecodes and for machine code alike. A table is a sequence of
 * pairs of differences, the first of which also tells statements from expressions. Lines follow
 * from characters: v8_lines.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/target_memory.h"

struct v8_position {
	uint32_t offset;		/* of the instruction */
	int32_t character;		/* of the script; -1: unknown */
	int32_t inlining;		/* index of the inlining position; -1: not inlined */
};

/* A position as it is in tables and in inlining positions; offset stays. */
void v8_position_decode(uint64_t raw, struct v8_position *p);

/*
 * Decodes a table. *out is the caller's. The number of positions; -ESTALE: it is none; or -ENOMEM.
 * Positions behind max characters are those of an external file and have no character.
 */
int v8_positions_decode(const uint8_t *table, size_t bytes, struct v8_position **out);

/* The last one at or before offset, or NULL. */
const struct v8_position *v8_position_at(const struct v8_position *v, size_t nr, uint32_t offset);

/* The next unsigned number, of 7 bits a byte. bad: there is none. */
uint32_t v8_table_number(const uint8_t *table, size_t bytes, size_t *at, int *bad);

/* Reads any number of bytes. 0 or an -errno of reading. */
int v8_memory_read(const struct target_memory *m, uint64_t addr, uint8_t *to, size_t bytes);

/* The elements of a ByteArray: *out is the caller's; their number or -errno (-ESTALE: too many). */
int v8_bytes_read(const struct target_memory *m, uint64_t array, uint8_t **out);
