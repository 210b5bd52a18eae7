/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Baseline code of V8: which bytecode each of its instructions was made of. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/target_memory.h"
#include "src/runtimes/v8/v8_code.h"
#include "src/runtimes/v8/v8_positions.h"

/*
 * Replaces the offsets of bytecodes by those of their machine code, from the beginning of its
 * instructions on. How many positions are left, or -errno (-ESTALE: the tables do not go
 * together; -ENOTSUP: the lengths of bytecodes are not known).
 */
int v8_baseline_place(const struct target_memory *m, const struct v8_layout *l, uint64_t bytecodes,
		      const struct v8_code *code, struct v8_position *v, size_t nr);
