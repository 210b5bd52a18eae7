/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that an instruction of Maglev's code is in. This code has no source positions, but
 * two kinds of places of which deoptimization data tells all frames and their bytecodes: calls, by
 * a table behind the code, and checks, which are jumps to the exits at its end.
 */
#pragma once

#include "src/runtimes/v8_inlining.h"

/*
 * As v8_inlined_at(), of code of this kind. The frames of a call are exact. Of an interrupted
 * instruction those are told that the places before and behind it agree in, and the bytecode of the
 * one before.
 */
int v8_maglev_at(const struct target_memory *m, const struct v8_layout *l, const struct v8_code *c,
		 uint64_t pc, int is_interrupted, struct v8_inlined out[V8_MAX_INLINED]);
