/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the code that one process has made: whose code was found at an address, and how
 * often that was replaced by other code.
 *
 * A frame has one name for ever, and a frame is an address in a binary. So when a runtime throws
 * code away and puts other code in its place, later samples there must be another frame. The number
 * of the replacement, the generation, chooses the binary that such frames are in (jit_names.h).
 *
 * Example: 0x1000 is named "parse" at 1 s. At 5 s the map has a later line for 0x1000, "print".
 * Samples that are written from then on have the address in generation 1, which is asked for anew.
 *
 * Limit: the first JIT_CODE_MAX addresses are watched, each for JIT_CODE_GENERATIONS replacements.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

#define JIT_CODE_MAX 16384
#define JIT_CODE_GENERATIONS 16

struct jit_piece {
	uint64_t addr, name_hash;
	uint32_t generation;
};

/* All 0 at first. */
struct jit_code {
	struct jit_piece *v;
	size_t nr, cap;
	struct hash_index index;
};

void jit_code_release(struct jit_code *c);

/* The name of the code that is at addr now. true: it has taken the place of other code. */
bool jit_code_put(struct jit_code *c, uint64_t addr, const char *name);
uint32_t jit_code_generation(const struct jit_code *c, uint64_t addr);
