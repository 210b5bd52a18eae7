/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/runtime.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/model/record.h"
#include "src/runtimes/hotspot_find.h"
#include "src/runtimes/hotspot_heaps.h"
#include "src/runtimes/hotspot_locks.h"
#include "src/runtimes/hotspot_names.h"
#include "src/runtimes/hotspot_program.h"
#include "src/runtimes/perl_find.h"
#include "src/runtimes/perl_names.h"
#include "src/runtimes/perl_program.h"
#include "src/runtimes/php_find.h"
#include "src/runtimes/php_names.h"
#include "src/runtimes/php_program.h"
#include "src/runtimes/python_find.h"
#include "src/runtimes/python_names.h"
#include "src/runtimes/python_program.h"
#include "src/runtimes/python_slot.h"
#include "src/runtimes/ruby_find.h"
#include "src/runtimes/ruby_names.h"
#include "src/runtimes/ruby_program.h"
#include "src/runtimes/v8_find.h"
#include "src/runtimes/v8_names.h"
#include "src/runtimes/v8_program.h"

#include ARCH_HEADER

static bool python_is_sound(const struct runtime_image *image)
{
	return python_layout_is_sound(&image->python);
}

static int python_program_of(const struct runtime_image *image, struct frame_program *out)
{
	return python_program(&image->python, out);
}

static uint64_t interpreters_head(const struct runtime_image *image, uint64_t bias)
{
	return image->state_vaddr + bias + image->python.interpreters_head;
}

static void python_constants(const struct runtime_image *image, uint64_t bias,
			     struct unwind_runtime *rt)
{
	rt->consts[PYTHON_CONST_HEAD] =
		python_before_first(&image->python, interpreters_head(image, bias));
}

static int python_shorten(const struct runtime_image *image, uint64_t bias,
			  const struct target_memory *m, struct unwind_runtime *rt)
{
	int32_t slot;
	int err = -ENOENT;

	if (ARCH_SELF_IS_THREAD_POINTER)
		err = python_slot_find(&image->python, m, interpreters_head(image, bias), &slot);
	if (!err)
		rt->consts[PYTHON_CONST_SLOT] = (uint64_t)(int64_t)slot;
	return err;
}

static bool v8_is_sound(const struct runtime_image *image)
{
	return image->nr_loops == 1 && v8_layout_is_sound(&image->v8);
}

static int v8_program_of(const struct runtime_image *image, struct frame_program *out)
{
	return v8_program(&image->v8, out);
}

static void v8_constants(const struct runtime_image *image, uint64_t bias,
			 struct unwind_runtime *rt)
{
	const uint64_t blob = image->loops[0].lo + bias;

	rt->flags = RUNTIME_OWNS_CODE;
	rt->consts[V8_CONST_BLOB] = blob;
	rt->consts[V8_CONST_BLOB_BYTES] = image->loops[0].hi - image->loops[0].lo;
	rt->consts[V8_CONST_CODE] = V8_IS_CODE;
}

static void v8_constants_again(const struct runtime_image *image, uint64_t bias,
			       struct unwind_runtime *rt)
{
	rt->consts[V8_CONST_BLOB] = image->loops[0].lo + bias;
}

/* The code itself tells its kind. */
static int v8_code_of(const struct runtime_image *image, uint64_t bias,
		      const struct target_memory *m, enum runtime_frame_kind kind, uint64_t code,
		      uint32_t cookie, struct runtime_code **out)
{
	(void)bias;
	(void)kind;
	return v8_code_read(image, m, code, cookie, out);
}

/* Later versions have something on the C stack that tells. */
static bool python_has_one_each(const struct runtime_image *image)
{
	return image->python.minor <= 10;
}

static const char *python_variant(const struct runtime_image *image)
{
	return image->python.is_free_threaded ? " free-threaded" : "";
}

static int python_code_of(const struct runtime_image *image, uint64_t bias,
			  const struct target_memory *m, enum runtime_frame_kind kind,
			  uint64_t code, uint32_t cookie, struct runtime_code **out)
{
	(void)kind;
	return python_code_read(image, bias, m, code, cookie, out);
}

static bool hotspot_is_sound(const struct runtime_image *image)
{
	return hotspot_layout_is_sound(&image->hotspot);
}

static int hotspot_program_of(const struct runtime_image *image, struct frame_program *out)
{
	return image->hotspot.is_read ? hotspot_program(&image->hotspot, out) : -EAGAIN;
}

/* Without the heaps no code is the program's. */
static void hotspot_constants(const struct runtime_image *image, uint64_t bias,
			      struct unwind_runtime *rt)
{
	(void)image;
	(void)bias;
	rt->flags = RUNTIME_OWNS_CODE;
}

static int hotspot_attach(struct runtime_image *image, uint64_t bias,
			  const struct target_memory *m, struct unwind_runtime *rt)
{
	int err = 0;

	if (!image->hotspot.is_read)
		err = hotspot_layout_read(&image->hotspot_lists, bias, m, &image->hotspot);
	if (!err)
		err = hotspot_heaps_read(&image->hotspot, bias, m, rt);
	image->version = image->hotspot.version;
	if (image->hotspot_lists.vtable_text)
		rt->consts[HOTSPOT_CONST_VTABLE] = image->hotspot_lists.vtable_text + bias;
	if (image->hotspot_lists.adapter_text)
		rt->consts[HOTSPOT_CONST_ADAPTER] = image->hotspot_lists.adapter_text + bias;
	return err;
}

static int hotspot_waits_of(const struct runtime_image *image, uint64_t bias,
			    const struct target_memory *m, struct runtime_wait_hints *hints,
			    struct runtime_wait *waits, size_t nr)
{
	return hotspot_knows_locks(&image->hotspot)
		       ? hotspot_waits(&image->hotspot, bias, m, hints, waits, nr)
		       : -ENOTSUP;
}

static bool php_is_sound(const struct runtime_image *image)
{
	return php_layout_is_sound(&image->php.layout);
}

static const char *php_variant(const struct runtime_image *image)
{
	return image->php.has_threads ? " with threads" : "";
}

static int php_program_of(const struct runtime_image *image, struct frame_program *out)
{
	return php_program(&image->php.layout, out);
}

static void php_constants(const struct runtime_image *image, uint64_t bias,
			  struct unwind_runtime *rt)
{
	rt->consts[PHP_CONST_CURRENT] = image->state_vaddr + bias + image->php.layout.current;
	if (!image->php.frame_bytes)
		return;
	rt->consts[PHP_CONST_BODY] = image->php.body_vaddr + bias;
	rt->consts[PHP_CONST_RETURN] = image->php.frame_bytes - 8;
	rt->consts[PHP_CONST_TEXT] = image->php.text_vaddr + bias;
	rt->consts[PHP_CONST_TEXT_END] = rt->consts[PHP_CONST_TEXT] + image->php.text_bytes;
	rt->flags = RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS;
}

static int php_code_of(const struct runtime_image *image, uint64_t bias,
			 const struct target_memory *m, enum runtime_frame_kind kind,
			 uint64_t code, uint32_t cookie, struct runtime_code **out)
{
	(void)kind;
	return php_code_read(image, bias, m, code, cookie, out);
}

static bool perl_is_sound(const struct runtime_image *image)
{
	return perl_layout_is_sound(&image->perl.layout);
}

static const char *perl_variant(const struct runtime_image *image)
{
	return image->perl.has_globals ? " no threads" : "";
}

static int perl_program_of(const struct runtime_image *image, struct frame_program *out)
{
	return perl_program(&image->perl.layout, out);
}

static void perl_constants(const struct runtime_image *image, uint64_t bias,
			   struct unwind_runtime *rt)
{
	rt->consts[PERL_CONST_KEY] = image->state_vaddr + bias;
}

static int perl_code_of(const struct runtime_image *image, uint64_t bias,
			 const struct target_memory *m, enum runtime_frame_kind kind,
			 uint64_t code, uint32_t cookie, struct runtime_code **out)
{
	(void)kind;
	return perl_code_read(image, bias, m, code, cookie, out);
}

static bool ruby_is_sound(const struct runtime_image *image)
{
	return ruby_image_is_sound(&image->ruby);
}

static int ruby_program_of(const struct runtime_image *image, struct frame_program *out)
{
	return ruby_program(&image->ruby, out);
}

static void ruby_constants(const struct runtime_image *image, uint64_t bias,
			   struct unwind_runtime *rt)
{
	rt->consts[RUBY_CONST_STATE] = image->state_vaddr + bias;
	rt->consts[RUBY_CONST_OFFSET] = (uint64_t)image->ruby.offset;
	rt->consts[RUBY_CONST_VM] = image->ruby.vm_vaddr + bias;
	rt->consts[RUBY_CONST_TEXT] = image->ruby.text_vaddr + bias;
	rt->consts[RUBY_CONST_TEXT_END] = rt->consts[RUBY_CONST_TEXT] + image->ruby.text_bytes;
	if (image->ruby.layout.frame_jit)
		rt->flags = RUNTIME_OWNS_CODE | RUNTIME_HAS_LOOPS;
}

static int ruby_code_of(const struct runtime_image *image, uint64_t bias,
			const struct target_memory *m, enum runtime_frame_kind kind,
			uint64_t code, uint32_t cookie, struct runtime_code **out)
{
	(void)kind;
	return ruby_code_read(image, bias, m, code, cookie, out);
}

/*
 * What a kind of runtime adds to the functions of runtime.h of the same name. All but find are
 * called for images of that kind only, and all but find and variant for those of a known version.
 */
static const struct runtime_kind_row {
	const char *name;
	uint8_t lang;
	bool owns_code;
	bool has_offsets;	/* an instruction is a distance within its code object */
	bool has_trampolines;	/* python -X perf */
	int (*find)(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
	bool (*is_sound)(const struct runtime_image *image);
	const char *(*variant)(const struct runtime_image *image);	/* behind the version */
	int (*program)(const struct runtime_image *image, struct frame_program *out);
	void (*constants)(const struct runtime_image *image, uint64_t bias,
			  struct unwind_runtime *out);		/* all is 0 before */
	void (*constants_again)(const struct runtime_image *image, uint64_t bias,
				struct unwind_runtime *rt);
	int (*shorten)(const struct runtime_image *image, uint64_t bias,
		       const struct target_memory *m, struct unwind_runtime *rt);
	/* NULL: it is not needed. */
	int (*attach)(struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		      struct unwind_runtime *rt);
	int (*code_read)(const struct runtime_image *image, uint64_t bias,
			 const struct target_memory *m, enum runtime_frame_kind kind,
			 uint64_t code, uint32_t cookie, struct runtime_code **out);
	/* NULL: nothing is kept, and code_read is called. */
	int (*code_read_kept)(const struct runtime_image *image, const struct kept_memory *k,
			      uint64_t code, uint32_t cookie, struct runtime_code **out);
	int (*code_line)(const struct runtime_code *c, uint32_t instruction, uint32_t *line);
	/* NULL: there is one line, as code_line says. */
	int (*code_lines)(const struct runtime_code *c, uint32_t instruction,
			  struct runtime_line *lines, size_t max);
	void (*code_free)(struct runtime_code *c);	/* what is in .own; NULL: nothing */
	int (*waits)(const struct runtime_image *image, uint64_t bias,
		     const struct target_memory *m, struct runtime_wait_hints *hints,
		     struct runtime_wait *waits, size_t nr);		/* NULL: not known */
	const char *versions;	/* that are known on x86-64, for people; each is tested */
	const char *versions_arm64;	/* the same on arm64; NULL: none is known there */
	bool (*has_one_each)(const struct runtime_image *image);	/* NULL: no */
} kinds[RUNTIME_KINDS] = {
	[RUNTIME_CPYTHON] = {
		.name = "python", .lang = LANG_PYTHON, .has_offsets = true,
		.has_trampolines = true, .find = python_find,
		.is_sound = python_is_sound, .variant = python_variant,
		.program = python_program_of, .constants = python_constants,
		.shorten = python_shorten, .code_read = python_code_of,
		.code_line = python_code_line, .versions = "3.8 to 3.14",
		.versions_arm64 = "3.11",
		.has_one_each = python_has_one_each,
	},
	[RUNTIME_HOTSPOT] = {
		.name = "java", .lang = LANG_JAVA, .has_offsets = true, .find = hotspot_find,
		.is_sound = hotspot_is_sound, .program = hotspot_program_of,
		.constants = hotspot_constants, .attach = hotspot_attach,
		.code_read = hotspot_code_read, .code_lines = hotspot_code_lines,
		.code_free = hotspot_code_free, .waits = hotspot_waits_of,
		.versions = "11, 17, 21, 25",
	},
	[RUNTIME_V8] = {
		.name = "v8", .lang = LANG_JAVASCRIPT, .owns_code = true, .has_offsets = true,
		.find = v8_find, .is_sound = v8_is_sound, .program = v8_program_of,
		.constants = v8_constants, .constants_again = v8_constants_again,
		.code_read = v8_code_of, .code_read_kept = v8_code_read_kept,
		.code_line = v8_code_line, .code_lines = v8_code_lines,
		.versions = "10.2 to 13.6 (node 18, 20, 22, 24)",
	},
	[RUNTIME_PERL] = {
		.name = "perl", .lang = LANG_PERL, .find = perl_find, .is_sound = perl_is_sound,
		.variant = perl_variant, .program = perl_program_of, .constants = perl_constants,
		.code_read = perl_code_of, .code_line = perl_code_line,
		.versions = "5.32 to 5.40 (with ithreads)",
	},
	[RUNTIME_PHP] = {
		.name = "php", .lang = LANG_PHP, .find = php_find, .is_sound = php_is_sound,
		.variant = php_variant, .program = php_program_of, .constants = php_constants,
		.code_read = php_code_of, .code_line = php_code_line,
		.versions = "7.4 to 8.4 (without ZTS)",
	},
	[RUNTIME_RUBY] = {
		.name = "ruby", .lang = LANG_RUBY, .find = ruby_find, .is_sound = ruby_is_sound,
		.program = ruby_program_of, .constants = ruby_constants,
		.code_read = ruby_code_of, .code_line = ruby_code_line,
		.code_lines = ruby_code_lines, .versions = "2.7 to 3.4",
	},
	/* Its code is not known, and a line says so. python_find() finds it. */
	[RUNTIME_PYPY] = { .name = "pypy", .lang = LANG_PYTHON },
};

int runtime_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	int err = -ENOENT;

	for (int i = RUNTIME_NONE + 1; i < RUNTIME_KINDS && err == -ENOENT; i++) {
		memset(out, 0, sizeof(*out));
		err = kinds[i].find ? kinds[i].find(img, fd, data, out) : -ENOENT;
	}
	/* Offsets and rules of other machines would make wrong frames. */
	if (!err && img->machine != EM_X86_64 && !kinds[out->kind].versions_arm64)
		out->is_known = 0;
	return err;
}

bool runtime_image_is_sound(const struct runtime_image *image)
{
	if (image->kind == RUNTIME_NONE || image->kind >= RUNTIME_KINDS || image->is_known > 1 ||
	    image->nr_loops > RUNTIME_MAX_LOOPS)
		return false;
	if (image->is_known && !kinds[image->kind].program)
		return false;
	for (uint32_t i = 0; i < image->nr_loops; i++)
		if (image->loops[i].lo >= image->loops[i].hi)
			return false;
	return !image->is_known || kinds[image->kind].is_sound(image);
}

uint8_t runtime_lang(const struct runtime_image *image)
{
	return kinds[image->kind].lang;
}

bool runtime_has_offsets(const struct runtime_image *image)
{
	return kinds[image->kind].has_offsets;
}

bool runtime_owns_code(const struct runtime_image *image)
{
	return kinds[image->kind].owns_code;
}

bool runtime_has_trampolines(const struct runtime_image *image)
{
	return kinds[image->kind].has_trampolines;
}

void runtime_title(const struct runtime_image *image, char title[RUNTIME_TITLE_BYTES])
{
	const struct runtime_kind_row *k = &kinds[image->kind];
	const uint32_t v = image->version;
	int n = snprintf(title, RUNTIME_TITLE_BYTES, "%s", k->name);

	if (!v)
		return;
	n += snprintf(title + n, RUNTIME_TITLE_BYTES - n, " %u.%u", v >> 24, v >> 16 & 0xff);
	if (v & 0xffff)
		n += snprintf(title + n, RUNTIME_TITLE_BYTES - n, ".%u", v >> 8 & 0xff);
	if (k->variant)
		snprintf(title + n, RUNTIME_TITLE_BYTES - n, "%s", k->variant(image));
}

bool runtime_has_one_each(const struct runtime_image *image)
{
	return kinds[image->kind].has_one_each && kinds[image->kind].has_one_each(image);
}

void runtime_known(uint16_t machine, char text[RUNTIME_KNOWN_BYTES])
{
	size_t len = 0;

	*text = 0;
	for (int i = RUNTIME_NONE + 1; i < RUNTIME_KINDS; i++) {
		const char *versions = machine == EM_X86_64 ? kinds[i].versions
							    : kinds[i].versions_arm64;

		if (versions && len < RUNTIME_KNOWN_BYTES)
			len += (size_t)snprintf(text + len, RUNTIME_KNOWN_BYTES - len, "%s%s %s",
						len ? ", " : "", kinds[i].name, versions);
	}
}

int runtime_program(const struct runtime_image *image, struct frame_program *out)
{
	return image->is_known ? kinds[image->kind].program(image, out) : -ENOTSUP;
}

void runtime_constants(const struct runtime_image *image, uint64_t bias,
		       struct unwind_runtime *out)
{
	memset(out, 0, sizeof(*out));
	kinds[image->kind].constants(image, bias, out);
}

void runtime_constants_again(const struct runtime_image *image, uint64_t bias,
			     struct unwind_runtime *rt)
{
	if (kinds[image->kind].constants_again)
		kinds[image->kind].constants_again(image, bias, rt);
}

int runtime_shorten(const struct runtime_image *image, uint64_t bias,
		    const struct target_memory *m, struct unwind_runtime *rt)
{
	return kinds[image->kind].shorten ? kinds[image->kind].shorten(image, bias, m, rt)
					  : -ENOENT;
}

bool runtime_is_attached_late(const struct runtime_image *image)
{
	return image->is_known && kinds[image->kind].attach;
}

int runtime_attach(struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		   struct unwind_runtime *rt)
{
	struct runtime_image read = *image;
	struct unwind_runtime made;
	int err;

	if (!runtime_is_attached_late(image))
		return -ENOENT;
	runtime_constants(image, bias, &made);
	err = kinds[image->kind].attach(&read, bias, m, &made);
	if (!err && !runtime_image_is_sound(&read))
		err = -ENOTSUP;
	if (err)
		return err;
	*image = read;
	*rt = made;
	return 0;
}

int runtime_code_read(const struct runtime_image *image, uint64_t bias,
		      const struct target_memory *m, enum runtime_frame_kind kind, uint64_t code,
		      uint32_t cookie, struct runtime_code **out)
{
	int err = -ENOTSUP;

	if (image->is_known)
		err = kinds[image->kind].code_read(image, bias, m, kind, code, cookie, out);
	if (!err)
		(*out)->kind = (uint8_t)image->kind;
	return err;
}

int runtime_code_read_kept(const struct runtime_image *image, uint64_t bias,
			   const struct kept_memory *k, enum runtime_frame_kind kind,
			   uint64_t code, uint32_t cookie, struct runtime_code **out)
{
	int err;

	if (!image->is_known || !kinds[image->kind].code_read_kept)
		return runtime_code_read(image, bias, &k->memory, kind, code, cookie, out);
	err = kinds[image->kind].code_read_kept(image, k, code, cookie, out);
	if (!err)
		(*out)->kind = (uint8_t)image->kind;
	return err;
}

int runtime_code_line(const struct runtime_code *c, uint32_t instruction, uint32_t *line)
{
	struct runtime_line lines[RUNTIME_MAX_LINES];
	int nr;

	if (!kinds[c->kind].code_line) {
		nr = kinds[c->kind].code_lines(c, instruction, lines, RUNTIME_MAX_LINES);
		if (nr > 0)
			*line = lines[0].line;
		return nr < 0 ? nr : *line ? 0 : -ENODATA;
	}
	return kinds[c->kind].code_line(c, instruction, line);
}

int runtime_code_lines(const struct runtime_code *c, uint32_t instruction,
		       struct runtime_line *lines, size_t max)
{
	int err;

	if (kinds[c->kind].code_lines)
		return kinds[c->kind].code_lines(c, instruction, lines, max);
	*lines = (struct runtime_line){ .name = c->name, .file = c->file,
					.first_line = c->first_line, .tier = TIER_NONE };
	err = runtime_code_line(c, instruction, &lines->line);
	if (err)
		lines->line = 0;
	return err == -ESTALE ? err : 1;
}

bool runtime_knows_waits(const struct runtime_image *image)
{
	return image->is_known && kinds[image->kind].waits;
}

int runtime_waits(const struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		  struct runtime_wait_hints *hints, struct runtime_wait *waits, size_t nr)
{
	return kinds[image->kind].waits(image, bias, m, hints, waits, nr);
}

void runtime_code_free(struct runtime_code *c)
{
	if (!c)
		return;
	free(c->name);
	free(c->file);
	free(c->lines);
	if (kinds[c->kind].code_free)
		kinds[c->kind].code_free(c);
	free(c);
}
