/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the code that one process has made: whose code was found at an address, and when
 * that was replaced by other code.
 *
 * A frame has one name for ever, and a frame is an address in a binary. So when a runtime throws
 * code away and puts other code in its place, later samples there must be another frame. The number
 * of the replacement, the generation, chooses the binary that such frames are in (jit_names.h).
 *
 * Example: 0x1000 is named "parse" at 1 s. At 5 s a dump is read that has other code for 0x1000,
 * "print", since 4.2 s. Samples from 4.2 s on have the address in generation 1, which is asked for
 * anew. A map does not say when: there it is those from 5 s on.
 *
 * Code that comes back (a runtime that alternates between two functions) has the generation that it
 * had before.
 *
 * Limit: the first JIT_CODE_MAX addresses are watched, each for JIT_CODE_GENERATIONS other
 * functions and JIT_CODE_SPANS replacements.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

#define JIT_CODE_MAX 16384
#define JIT_CODE_GENERATIONS 63
#define JIT_CODE_SPANS 4096

/* Code that was at an address from a time on. */
struct jit_span {
	uint64_t since_ns, name_hash;
	uint32_t generation;
};

struct jit_piece {
	uint64_t addr;
	struct jit_span *spans;		/* by time; the first one has no beginning */
	size_t nr, cap;
	uint32_t nr_names;
};

/* All 0 at first. */
struct jit_code {
	struct jit_piece *v;
	size_t nr, cap;
	struct hash_index index;
};

void jit_code_release(struct jit_code *c);

/*
 * The name of the code that is at addr since then. true: it has taken the place of other code. What
 * is not later than what is known already changes nothing.
 */
bool jit_code_put(struct jit_code *c, uint64_t addr, const char *name, uint64_t since_ns);
/* The generation of the code that was there at that time. */
uint32_t jit_code_generation(const struct jit_code *c, uint64_t addr, uint64_t time_ns);
