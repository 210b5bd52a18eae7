/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program of V8. Its frames are on the native stack, and all of them have frame pointers.
 * Constants of a process: where the builtins are. V8 maps them again near the code that it
 * generates, for each isolate; in the one place that is a constant frames take less time.
 *
 * What goes out (words of frame_program.h):
 *
 *		code					instruction
 *	interpreted	SharedFunctionInfo		offset of the bytecode, from its object on
 *	a builtin	the same			V8_NO_OFFSET, or anything
 *	baseline	the same + V8_IS_BASELINE	offset from the beginning of its code
 *	optimized	address + V8_IS_CODE		the cookie
 *			... + V8_IS_INTERRUPTED		the same, but not a return address
 *	of other kinds	V8_IS_CODE alone		the frame's marker, and as the cookie
 *
 * The cookie tells functions apart by numbers that are never given twice in an isolate: that of the
 * script, and that of the function in it. An object that has moved has another address, but the
 * same cookie.
 */
#pragma once

#include "src/runtimes/v8/v8_layout.h"
#include "unwind/frame_program.h"

enum { V8_CONST_BLOB, V8_CONST_BLOB_BYTES, V8_CONST_CODE };

#define V8_NO_OFFSET 0xffffffffu
#define V8_IS_BASELINE 2u		/* beside V8_TAG */
#define V8_CODE_BIT 56			/* addresses of user memory have less bits */
#define V8_IS_CODE (1ull << V8_CODE_BIT)
#define V8_INTERRUPTED_BIT 55
#define V8_IS_INTERRUPTED (1ull << V8_INTERRUPTED_BIT)
#define V8_COOKIE_SHIFT 14
#define V8_WASM_MARKER (4 << 1)		/* of a frame, instead of its context */

/* 0 or -EINVAL. */
int v8_program(const struct v8_layout *l, struct frame_program *out);

/* The cookie of a function. */
static inline uint32_t v8_cookie(uint32_t script, uint32_t literal)
{
	return (script << V8_COOKIE_SHIFT) + literal;
}
