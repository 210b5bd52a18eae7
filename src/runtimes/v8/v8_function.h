/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a SharedFunctionInfo of V8 says: the function's name, and where it is in which script. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/runtimes/target_memory.h"
#include "src/runtimes/v8/v8_layout.h"

struct v8_function {
	char *name;			/* UTF-8; "(anonymous)" where it has none */
	char *file;			/* NULL: it is of no script */
	uint32_t cookie;		/* v8_cookie() */
	uint32_t start, end;		/* characters of the script; 0, 0: unknown */
	uint64_t script;		/* 0: of none */
	uint64_t data;			/* bytecodes, baseline code, or the number of a builtin */
};

/*
 * 0; -ESTALE: shared is none; -ENOMEM; or an -errno of reading. On success the caller calls
 * v8_function_release().
 */
int v8_function_read(const struct target_memory *m, const struct v8_layout *l, uint64_t shared,
		     struct v8_function *out);
void v8_function_release(struct v8_function *f);
