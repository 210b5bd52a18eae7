/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What CPython's code objects say: the functions of runtime.h about code objects, of this runtime.
 *
 * A frame tells the address of its code object. By the time when the object is read, it may be
 * gone, and another one may be there. It is recognized by the cookie: since 3.12 a number that no
 * other code object has had (co_version), before that the address of its line table. That is
 * weaker, because the memory of a table is given out again, too. And an instruction that lies
 * outside of the code tells as well.
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/runtime.h"

struct kept_memory;

int python_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		     enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		     struct runtime_code **out);
int python_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line);
