/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deoptimization data of V8's optimized code: an array that leads to the function that the code is
 * of, and to the objects that its tables name by number, among them the functions that were
 * inlined.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/target_memory.h"
#include "src/runtimes/v8/v8_layout.h"

struct v8_deopt {
	const struct target_memory *m;
	const struct v8_layout *l;
	uint64_t data;			/* address of the object */
};

/* All of them: 0; -ESTALE: there is none; or an -errno of reading. */

/* Element i of a FixedArray. */
int v8_deopt_element(const struct v8_deopt *d, uint64_t array, uint32_t i, uint64_t *v);
/* The function that the code is of. */
int v8_deopt_function(const struct v8_deopt *d, uint64_t *shared);
/* The object that has that number. */
int v8_deopt_literal(const struct v8_deopt *d, int32_t i, uint64_t *object);
