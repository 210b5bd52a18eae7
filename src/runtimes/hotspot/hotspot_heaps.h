/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process has HotSpot's code: the heaps of compiled code, and the interpreter, which is one
 * block in a heap. They are made when the JVM starts and stay where they are.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/target_memory.h"

struct unwind_runtime;

/*
 * Fills in .heaps and the constants of hotspot_program.h. 0; -EAGAIN: they are not made yet;
 * -ENOTSUP: they are not as expected; or an -errno of reading.
 */
int hotspot_heaps_read(const struct hotspot_layout *l, uint64_t bias,
		       const struct target_memory *m, struct unwind_runtime *rt);
