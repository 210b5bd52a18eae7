/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * V8's frame translations: for each place where optimized code may be left, which frames of
 * functions are to be made of the one of the code. They are a program whose operations say, one
 * after the other, what a frame is and where its values are. An operation may also say that as many
 * of them are as in an earlier translation.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct v8_frame_state {
	int32_t literal;		/* number of its SharedFunctionInfo */
	int32_t bytecode;		/* offset of the bytecode that runs; -1: of a builtin */
};

/*
 * The frames of JavaScript functions, outermost first, of the translation that begins at byte at.
 * version: v8_layout.translations. Their number, at least 1; or -ESTALE: it is no translation, or
 * has more than max of them.
 */
int v8_translation_read(const uint8_t *v, size_t bytes, uint32_t at, uint32_t version,
			struct v8_frame_state *out, int max);
