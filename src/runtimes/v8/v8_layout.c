/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows are what objects in the memory of node 18.20.8, 20.20.2, 22.20.0 and 24.19.0 show, as
 * far as their constants for debuggers do not say it. V8 does not change a struct within a branch.
 */
#include "src/runtimes/v8/v8_layout.h"

#include <errno.h>
#include <stddef.h>

#define MAX_OFFSET 256
#define MAX_TYPE 0xffff
#define NR_FIELDS (offsetof(struct v8_layout, nr_bytecodes) / sizeof(uint32_t))

static const struct row {
	uint32_t major, minor;
	struct v8_layout layout;
} rows[] = {
	{ 10, 2, {			/* node 18 */
		.function_shared = 24, .function_code = 48,
		.shared_data = 8, .shared_name = 16, .shared_script = 32,
		.shared_token = 44, .shared_literal = 52, .scope_variables = 32,
		.bytecode_data = 56, .bytecode_positions = 32,
		.code_data = 16, .code_positions = 24, .code_start = 0, .code_size = 40,
		.code_flags = 48, .stream_header = 128, .kind_baseline = 11, .has_bare_regexp = 1,
		.deopt_literals = 2, .deopt_shared = 6, .deopt_inlining = 7,
	} },
	{ 11, 3, {			/* node 20 */
		.function_shared = 24, .function_code = 48,
		.shared_data = 8, .shared_name = 16, .shared_script = 32,
		.shared_token = 44, .shared_literal = 52, .scope_variables = 32,
		.bytecode_data = 54, .bytecode_positions = 32,
		.code_data = 16, .code_positions = 24, .code_start = 40, .code_size = 56,
		.code_flags = 48, .stream_header = 16, .stream_code = 8, .kind_baseline = 11,
		.regexp_marker = 27 << 1,
		.deopt_literals = 2, .deopt_shared = 6, .deopt_inlining = 7,
	} },
	{ 12, 4, {			/* node 22 */
		.function_shared = 32, .function_code = 24,
		.shared_data = 8, .shared_name = 16, .shared_script = 32,
		.shared_token = 44, .shared_literal = 52, .scope_variables = 32,
		.bytecode_data = 64, .bytecode_positions = 24,
		.code_data = 8, .code_positions = 16, .code_start = 40, .code_size = 52,
		.code_flags = 48, .stream_header = 32, .stream_code = 8, .kind_baseline = 10,
		.deopt_literals = 2, .deopt_shared = 6, .deopt_inlining = 7,
		.deopt_exits = 8, .translations = 1, .safepoint_length = 0,
		.regexp_marker = 29 << 1,
	} },
	{ 13, 6, {			/* node 24 */
		.function_shared = 32, .shared_data = 8, .shared_name = 24, .shared_script = 40,
		.shared_token = 52, .shared_literal = 60,
		.scope_variables = 48, .scope_position = 32, .is_scope_raw = 1,
		.bytecode_data = 64, .bytecode_positions = 24,
		.code_data = 8, .code_positions = 16, .code_start = 40, .code_size = 56,
		.code_flags = 52, .stream_header = 32, .stream_code = 8, .kind_baseline = 10,
		.deopt_literals = 3, .deopt_shared = 7, .deopt_inlining = 8, .deopt_wraps = 1,
		.deopt_exits = 9, .translations = 2, .safepoint_length = 4,
		.regexp_marker = 31 << 1,
	} },
};

int v8_layout_of(uint32_t major, uint32_t minor, struct v8_layout *out)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].major != major || rows[i].minor != minor)
			continue;
		*out = rows[i].layout;
		return 0;
	}
	return -ENOTSUP;
}

bool v8_layout_is_sound(const struct v8_layout *l)
{
	const uint32_t *v = (const uint32_t *)l;
	const size_t types = offsetof(struct v8_layout, type_shared) / sizeof(uint32_t);

	for (size_t i = 0; i < NR_FIELDS; i++)
		if (v[i] > (i < types ? MAX_OFFSET : MAX_TYPE))
			return false;
	return l->nr_bytecodes <= V8_MAX_BYTECODES && l->function_shared && l->shared_script &&
	       l->bytecode_data && l->stream_header;
}
