/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What HotSpot's methods and blocks of code say: the functions of runtime.h about code objects.
 *
 * An interpreted frame leads to a Method. A compiled one leads to the block of its code, whose
 * tables say for some addresses (calls and safepoints) which methods were inlined there, and at
 * which bytecode each is:
 *
 *	PcDesc		pc -> place in the scopes
 *	scopes		{ scope of the caller, method, bytecode }, compressed, innermost first
 *
 * All methods of the scopes are read at once, because the code may be thrown away later. A return
 * address has an entry of its own. An interrupted instruction takes the next one behind it, so its
 * line may be that of a neighbour; without any, only the method is known.
 *
 * Names are those of the code that was seen: compiled code has a number that no other has had, a
 * method is recognized by the address of its ConstMethod.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/runtime.h"

struct kept_memory;

int hotspot_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		      enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		      struct runtime_code **out);
int hotspot_code_lines(const struct runtime_code *c, uint32_t instruction,
		       struct runtime_line *lines, size_t max);
void hotspot_code_free(struct runtime_code *c);
