/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that an instruction of optimized code is in, by its deoptimization data. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/target_memory.h"
#include "src/runtimes/v8/v8_code.h"

struct v8_inlined {
	uint64_t shared;		/* SharedFunctionInfo; 0: others may be here */
	int32_t character;		/* of its script; -1: unknown */
};

#define V8_MAX_INLINED 32

/*
 * Innermost first, and last the function that the code is of. is_interrupted: the instruction at pc
 * was to run, and is not one before a return address; positions are those of calls, so the function
 * is told only as far in as the calls before and behind it agree, and where they are of different
 * inlined functions, there is no character. Their number, at least 1; or -errno (-ESTALE: it is no
 * such code).
 */
int v8_inlined_at(const struct target_memory *m, const struct v8_layout *l, const struct v8_code *c,
		  uint64_t pc, int is_interrupted, struct v8_inlined out[V8_MAX_INLINED]);
