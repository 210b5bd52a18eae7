/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's bytecodes, and which characters of its script they are from. */
#pragma once

#include <stdint.h>

#include "src/runtimes/target_memory.h"
#include "src/runtimes/v8/v8_code.h"
#include "src/runtimes/v8/v8_layout.h"
#include "src/runtimes/v8/v8_positions.h"

/*
 * The bytecodes that data of a SharedFunctionInfo leads to; those of baseline code are behind it.
 * 0; -ENOENT: they are there without such code; or an -errno of reading.
 */
int v8_bytecodes_find(const struct target_memory *m, const struct v8_layout *l, uint64_t data,
		      uint64_t *bytecodes, struct v8_code *baseline);

/* Positions by the offset of the bytecode: as v8_positions_decode(). */
int v8_bytecodes_positions(const struct target_memory *m, const struct v8_layout *l,
			   uint64_t bytecodes, struct v8_position **out);

/*
 * The character that the bytecode at that offset is from; -1: it has none. 0; -ESTALE: shared is no
 * SharedFunctionInfo; -ENOMEM; or an -errno of reading.
 */
int v8_bytecodes_character(const struct target_memory *m, const struct v8_layout *l,
			   uint64_t shared, int32_t offset, int32_t *character);
