/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/record.h"
#include "src/runtimes/ruby/ruby_find.h"
#include "src/runtimes/ruby/ruby_layout.h"
#include "src/runtimes/ruby/ruby_names.h"
#include "src/runtimes/ruby/ruby_program.h"
#include "src/runtimes/runtime_kind.h"

static struct ruby_image own_of(const struct runtime_image *image)
{
	struct ruby_image own;

	RUNTIME_GET_OWN(image, &own);
	return own;
}

static bool is_sound(const struct runtime_image *image)
{
	const struct ruby_image ruby = own_of(image);

	return ruby_image_is_sound(&ruby);
}

static int program(const struct runtime_image *image, struct frame_program *out)
{
	const struct ruby_image ruby = own_of(image);

	return ruby_program(&ruby, out);
}

static void constants(const struct runtime_image *image, uint64_t bias, struct unwind_runtime *rt)
{
	const struct ruby_image ruby = own_of(image);

	rt->consts[RUBY_CONST_STATE] = image->state_vaddr + bias;
	rt->consts[RUBY_CONST_OFFSET] = (uint64_t)ruby.offset;
	rt->consts[RUBY_CONST_VM] = ruby.vm_vaddr + bias;
	rt->consts[RUBY_CONST_TEXT] = ruby.text_vaddr + bias;
	rt->consts[RUBY_CONST_TEXT_END] = rt->consts[RUBY_CONST_TEXT] + ruby.text_bytes;
	if (ruby.layout.frame_jit)
		rt->flags = RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS;
}

const struct runtime_kind ruby_runtime = {
	.name = "ruby", .files = "ruby", .lang = LANG_RUBY,
	.versions = "2.7 to 3.4",
	.find = ruby_find, .is_sound = is_sound,
	.program = program, .constants = constants,
	.code_read = ruby_code_read, .code_line = ruby_code_line, .code_lines = ruby_code_lines,
};
