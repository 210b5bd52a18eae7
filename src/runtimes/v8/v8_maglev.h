/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that an instruction of Maglev's code is in. This code has no source positions, but
 * two kinds of places of which deoptimization data tells all frames and their bytecodes: calls, by
 * a table behind the code, and checks, which are jumps to the exits at its end.
 */
#pragma once

#include "src/runtimes/v8/v8_inlining.h"

/*
 * Does for code of this kind what v8_inlined_at() does. The frames of a call are exact. An
 * interrupted instruction gets the frames that the places before and behind it have in common, and
 * the bytecode of the one before.
 */
int v8_maglev_at(const struct target_memory *m, const struct v8_layout *l, const struct v8_code *c,
		 uint64_t pc, int is_interrupted, struct v8_inlined out[V8_MAX_INLINED]);
