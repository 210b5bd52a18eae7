/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/record.h"
#include "src/runtimes/php/php_find.h"
#include "src/runtimes/php/php_layout.h"
#include "src/runtimes/php/php_names.h"
#include "src/runtimes/php/php_program.h"
#include "src/runtimes/runtime_kind.h"

static struct php_image own_of(const struct runtime_image *image)
{
	struct php_image own;

	RUNTIME_GET_OWN(image, &own);
	return own;
}

static bool is_sound(const struct runtime_image *image)
{
	const struct php_image php = own_of(image);

	return php_layout_is_sound(&php.layout);
}

static const char *variant(const struct runtime_image *image)
{
	return own_of(image).has_threads ? " with threads" : "";
}

static int program(const struct runtime_image *image, struct frame_program *out)
{
	const struct php_image php = own_of(image);

	return php_program(&php.layout, out);
}

static void constants(const struct runtime_image *image, uint64_t bias, struct unwind_runtime *rt)
{
	const struct php_image php = own_of(image);

	rt->consts[PHP_CONST_CURRENT] = image->state_vaddr + bias + php.layout.current;
	if (!php.frame_bytes)
		return;
	rt->consts[PHP_CONST_BODY] = php.body_vaddr + bias;
	rt->consts[PHP_CONST_RETURN] = php.frame_bytes - 8;
	rt->consts[PHP_CONST_TEXT] = php.text_vaddr + bias;
	rt->consts[PHP_CONST_TEXT_END] = rt->consts[PHP_CONST_TEXT] + php.text_bytes;
	rt->flags = RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS;
}

const struct runtime_kind php_runtime = {
	.name = "php", .files = "php", .lang = LANG_PHP,
	.versions = "7.4 to 8.4 (without ZTS)",
	.find = php_find, .is_sound = is_sound, .variant = variant,
	.program = program, .constants = constants,
	.code_read = php_code_read, .code_line = php_code_line,
};
