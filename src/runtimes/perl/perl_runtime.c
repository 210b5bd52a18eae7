/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/record.h"
#include "src/runtimes/perl/perl_find.h"
#include "src/runtimes/perl/perl_layout.h"
#include "src/runtimes/perl/perl_names.h"
#include "src/runtimes/perl/perl_program.h"
#include "src/runtimes/runtime_kind.h"

static struct perl_image own_of(const struct runtime_image *image)
{
	struct perl_image own;

	RUNTIME_GET_OWN(image, &own);
	return own;
}

static bool is_sound(const struct runtime_image *image)
{
	const struct perl_image perl = own_of(image);

	return perl_layout_is_sound(&perl.layout);
}

static const char *variant(const struct runtime_image *image)
{
	return own_of(image).has_globals ? " no threads" : "";
}

static int program(const struct runtime_image *image, struct frame_program *out)
{
	const struct perl_image perl = own_of(image);

	return perl_program(&perl.layout, out);
}

static void constants(const struct runtime_image *image, uint64_t bias, struct unwind_runtime *rt)
{
	rt->consts[PERL_CONST_KEY] = image->state_vaddr + bias;
}

const struct runtime_kind perl_runtime = {
	.name = "perl", .files = "perl", .lang = LANG_PERL,
	.versions = "5.32 to 5.40 (with ithreads)",
	.find = perl_find, .is_sound = is_sound, .variant = variant,
	.program = program, .constants = constants,
	.code_read = perl_code_read, .code_line = perl_code_line,
};
