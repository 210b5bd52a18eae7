/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What frames of V8 are called: the functions of runtime.h about code objects, of this runtime. The
 * words of its frames are those of v8_program.h.
 *
 * A frame is recognized by its cookie: the numbers of its script and of the function in it, which
 * are read again with the name. In optimized code the function is the one that the code's own
 * deoptimization data tells, which must have that cookie, too: code that was freed, moved or
 * replaced, or that the frame was not of, has no name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/runtime.h"

struct kept_memory;

/* k->kept: a struct v8_scripts (v8_lines.h). */
int v8_code_read(const struct runtime_image *image, uint64_t bias, const struct kept_memory *k,
		 enum runtime_frame_kind kind, uint64_t code, uint32_t cookie,
		 struct runtime_code **out);
int v8_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line);
int v8_code_lines(const struct runtime_code *c, uint32_t instruction, struct runtime_line *lines,
		  size_t max);
