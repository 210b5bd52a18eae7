/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code that V8 has generated: which Code object an address belongs to, and what its tables
 * say. Nothing leads from an address to its code but the heap's own pages; but each piece of code
 * begins, at a multiple of 64, behind a header that leads to its Code, which leads back.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/target_memory.h"
#include "src/runtimes/v8/v8_layout.h"

struct v8_code {
	uint64_t code;			/* address of the object */
	uint64_t start;
	uint32_t size, kind;		/* bytes of instructions; as in v8_layout.kind_baseline */
	uint64_t data, positions;	/* objects: code_data, code_positions of struct v8_layout */
};

/* What a Code object says. 0; -ESTALE: it is none; or an -errno of reading. */
int v8_code_read_object(const struct target_memory *m, const struct v8_layout *l, uint64_t code,
			struct v8_code *out);

/* The code that has the instruction at pc. 0; -ESTALE: there is none; or an -errno of reading. */
int v8_code_find(const struct target_memory *m, const struct v8_layout *l, uint64_t pc,
		 struct v8_code *out);
