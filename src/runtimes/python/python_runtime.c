/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "src/model/record.h"
#include "src/runtimes/python/python_find.h"
#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/python/python_names.h"
#include "src/runtimes/python/python_program.h"
#include "src/runtimes/python/python_slot.h"
#include "src/runtimes/python/python_threads.h"
#include "src/runtimes/runtime_kind.h"

#include ARCH_HEADER

static struct python_layout layout_of(const struct runtime_image *image)
{
	struct python_layout l;

	RUNTIME_GET_OWN(image, &l);
	return l;
}

static bool is_sound(const struct runtime_image *image)
{
	const struct python_layout l = layout_of(image);

	return python_layout_is_sound(&l);
}

static const char *variant(const struct runtime_image *image)
{
	return layout_of(image).is_free_threaded ? " free-threaded" : "";
}

/* Later versions have something on the C stack that tells. */
static bool has_one_each(const struct runtime_image *image)
{
	return layout_of(image).minor <= 10;
}

static int program(const struct runtime_image *image, struct frame_program *out)
{
	const struct python_layout l = layout_of(image);

	return python_program(&l, out);
}

static uint64_t interpreters_head(const struct runtime_image *image, uint64_t bias)
{
	return image->state_vaddr + bias + layout_of(image).interpreters_head;
}

static void constants(const struct runtime_image *image, uint64_t bias, struct unwind_runtime *rt)
{
	const struct python_layout l = layout_of(image);

	rt->consts[PYTHON_CONST_HEAD] = python_before_first(&l, interpreters_head(image, bias));
}

static int shorten(const struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		   struct unwind_runtime *rt)
{
	const struct python_layout l = layout_of(image);
	int32_t slot;
	int err = -ENOENT;

	if (ARCH_SELF_IS_THREAD_POINTER)
		err = python_slot_find(&l, m, interpreters_head(image, bias), &slot);
	if (!err)
		rt->consts[PYTHON_CONST_SLOT] = (uint64_t)(int64_t)slot;
	return err;
}

static int thread_names(const struct runtime_image *image, uint64_t bias,
			const struct target_memory *m, struct runtime_thread_name *names, size_t nr)
{
	const struct python_layout l = layout_of(image);

	return python_thread_names(&l, m, interpreters_head(image, bias), names, nr);
}

const struct runtime_kind python_runtime = {
	.name = "python", .files = "python", .lang = LANG_PYTHON,
	.has_offsets = true, .has_trampolines = true,
	.versions = "3.8 to 3.14", .versions_arm64 = "3.11",
	.find = python_find, .is_sound = is_sound, .variant = variant,
	.has_one_each = has_one_each,
	.program = program, .constants = constants, .shorten = shorten,
	.code_read = python_code_read, .code_line = python_code_line,
	.thread_names = thread_names,
};

/* Its code is not known, and a line says so. */
const struct runtime_kind pypy_runtime = {
	.name = "pypy", .files = "", .lang = LANG_PYTHON, .find = pypy_find,
};
