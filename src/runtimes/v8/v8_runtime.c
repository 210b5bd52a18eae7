/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/record.h"
#include "src/runtimes/v8/v8_find.h"
#include "src/runtimes/v8/v8_layout.h"
#include "src/runtimes/v8/v8_lines.h"
#include "src/runtimes/v8/v8_names.h"
#include "src/runtimes/v8/v8_program.h"
#include "src/runtimes/runtime_kind.h"

static bool is_sound(const struct runtime_image *image)
{
	struct v8_layout l;

	RUNTIME_GET_OWN(image, &l);
	return image->nr_loops == 1 && v8_layout_is_sound(&l);
}

static int program(const struct runtime_image *image, struct frame_program *out)
{
	struct v8_layout l;

	RUNTIME_GET_OWN(image, &l);
	return v8_program(&l, out);
}

static void constants(const struct runtime_image *image, uint64_t bias, struct unwind_runtime *rt)
{
	rt->flags = RUNTIME_OWNS_CODE;
	rt->consts[V8_CONST_BLOB] = image->loops[0].lo + bias;
	rt->consts[V8_CONST_BLOB_BYTES] = image->loops[0].hi - image->loops[0].lo;
	rt->consts[V8_CONST_CODE] = V8_IS_CODE;
}

static void constants_again(const struct runtime_image *image, uint64_t bias,
			    struct unwind_runtime *rt)
{
	rt->consts[V8_CONST_BLOB] = image->loops[0].lo + bias;
}

static void *kept_new(void)
{
	return v8_scripts_new();
}

static void kept_free(void *kept)
{
	v8_scripts_free(kept);
}

const struct runtime_kind v8_runtime = {
	.name = "v8", .files = "node electron", .lang = LANG_JAVASCRIPT,
	.owns_code = true, .has_offsets = true,
	.versions = "10.2 to 13.6 (node 18, 20, 22, 24)",
	.find = v8_find, .is_sound = is_sound,
	.program = program, .constants = constants, .constants_again = constants_again,
	.kept_new = kept_new, .kept_free = kept_free,
	.code_read = v8_code_read, .code_line = v8_code_line, .code_lines = v8_code_lines,
};
