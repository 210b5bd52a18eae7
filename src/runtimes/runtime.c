/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/runtime.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/elf/elf_image.h"
#include "src/runtimes/runtime_kind.h"

static const struct runtime_kind *kind_of(const struct runtime_image *image)
{
	return runtime_kinds[image->kind];
}

int runtime_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	int err = -ENOENT;

	for (int i = RUNTIME_NONE + 1; i < RUNTIME_KINDS && err == -ENOENT; i++) {
		memset(out, 0, sizeof(*out));
		err = runtime_kinds[i]->find(img, fd, data, out);
		out->kind = err ? RUNTIME_NONE : (uint32_t)i;
	}
	/* Offsets and rules of other machines would make wrong frames. */
	if (!err && img->machine != EM_X86_64 && !kind_of(out)->versions_arm64)
		out->is_known = 0;
	return err;
}

/* Whether one of the words is in name. */
static bool has_word(const char *name, const char *words)
{
	for (size_t len; *words; words += len + (words[len] == ' ')) {
		len = strcspn(words, " ");
		if (memmem(name, strlen(name), words, len))
			return true;
	}
	return false;
}

bool runtime_is_likely(const char *path)
{
	const char *name = strrchr(path, '/');
	bool is = false;

	for (int i = RUNTIME_NONE + 1; name && i < RUNTIME_KINDS && !is; i++)
		is = has_word(name, runtime_kinds[i]->files);
	return is;
}

bool runtime_image_is_sound(const struct runtime_image *image)
{
	if (image->kind == RUNTIME_NONE || image->kind >= RUNTIME_KINDS || image->is_known > 1 ||
	    image->nr_loops > RUNTIME_MAX_LOOPS)
		return false;
	if (image->is_known && !kind_of(image)->program)
		return false;
	for (uint32_t i = 0; i < image->nr_loops; i++)
		if (image->loops[i].lo >= image->loops[i].hi)
			return false;
	return !image->is_known || kind_of(image)->is_sound(image);
}

uint8_t runtime_lang(const struct runtime_image *image)
{
	return kind_of(image)->lang;
}

bool runtime_has_offsets(const struct runtime_image *image)
{
	return kind_of(image)->has_offsets;
}

bool runtime_owns_code(const struct runtime_image *image)
{
	return kind_of(image)->owns_code;
}

bool runtime_has_trampolines(const struct runtime_image *image)
{
	return kind_of(image)->has_trampolines;
}

void runtime_title(const struct runtime_image *image, char title[RUNTIME_TITLE_BYTES])
{
	const struct runtime_kind *k = kind_of(image);
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
	return kind_of(image)->has_one_each && kind_of(image)->has_one_each(image);
}

void runtime_known(uint16_t machine, char text[RUNTIME_KNOWN_BYTES])
{
	size_t len = 0;

	*text = 0;
	for (int i = RUNTIME_NONE + 1; i < RUNTIME_KINDS; i++) {
		const char *versions = machine == EM_X86_64 ? runtime_kinds[i]->versions
							    : runtime_kinds[i]->versions_arm64;

		if (versions && len < RUNTIME_KNOWN_BYTES)
			len += (size_t)snprintf(text + len, RUNTIME_KNOWN_BYTES - len, "%s%s %s",
						len ? ", " : "", runtime_kinds[i]->name, versions);
	}
}

int runtime_program(const struct runtime_image *image, struct frame_program *out)
{
	return image->is_known ? kind_of(image)->program(image, out) : -ENOTSUP;
}

void runtime_constants(const struct runtime_image *image, uint64_t bias,
		       struct unwind_runtime *out)
{
	memset(out, 0, sizeof(*out));
	kind_of(image)->constants(image, bias, out);
}

void runtime_constants_again(const struct runtime_image *image, uint64_t bias,
			     struct unwind_runtime *rt)
{
	if (kind_of(image)->constants_again)
		kind_of(image)->constants_again(image, bias, rt);
}

int runtime_shorten(const struct runtime_image *image, uint64_t bias,
		    const struct target_memory *m, struct unwind_runtime *rt)
{
	return kind_of(image)->shorten ? kind_of(image)->shorten(image, bias, m, rt)
					  : -ENOENT;
}

bool runtime_is_attached_late(const struct runtime_image *image)
{
	return image->is_known && kind_of(image)->attach;
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
	err = kind_of(image)->attach(&read, bias, m, &made);
	if ((!err || err == -EAGAIN) && !runtime_image_is_sound(&read))
		err = -ENOTSUP;
	if (!err || err == -EAGAIN)
		*image = read;
	if (!err)
		*rt = made;
	return err;
}

/* ---- code objects ---- */

struct runtime_keep {
	void *kept[RUNTIME_KINDS];
};

struct runtime_keep *runtime_keep_new(void)
{
	return calloc(1, sizeof(struct runtime_keep));
}

void runtime_keep_free(struct runtime_keep *keep)
{
	for (int i = 0; keep && i < RUNTIME_KINDS; i++)
		if (keep->kept[i])
			runtime_kinds[i]->kept_free(keep->kept[i]);
	free(keep);
}

/* Many are kept, and what they were read with had room for the longest. */
static void shrink(struct runtime_code *c)
{
	c->name = array_shrink(c->name, c->name ? strlen(c->name) + 1 : 0);
	c->file = array_shrink(c->file, c->file ? strlen(c->file) + 1 : 0);
	c->lines = array_shrink(c->lines, c->lines_bytes);
}

int runtime_code_read_kept(const struct runtime_image *image, uint64_t bias,
			   const struct runtime_process *p, enum runtime_frame_kind kind,
			   uint64_t code, uint32_t cookie, struct runtime_code **out)
{
	const struct runtime_kind *const of = kind_of(image);
	void **kept = &p->keep->kept[image->kind];
	struct kept_memory k = { p->memory, NULL, p->number };
	int err;

	if (!image->is_known)
		return -ENOTSUP;
	if (of->kept_new && !*kept)
		*kept = of->kept_new();
	if (of->kept_new && !*kept)
		return -ENOMEM;
	k.kept = *kept;
	err = of->code_read(image, bias, &k, kind, code, cookie, out);
	if (!err) {
		(*out)->kind = of;
		shrink(*out);
	}
	return err;
}

int runtime_code_read(const struct runtime_image *image, uint64_t bias,
		      const struct target_memory *m, enum runtime_frame_kind kind, uint64_t code,
		      uint32_t cookie, struct runtime_code **out)
{
	struct runtime_process p = { *m, runtime_keep_new(), 0 };
	int err = -ENOMEM;

	if (p.keep)
		err = runtime_code_read_kept(image, bias, &p, kind, code, cookie, out);
	runtime_keep_free(p.keep);
	return err;
}

/* ---- locks ---- */

bool runtime_knows_waits(const struct runtime_image *image)
{
	return image->is_known && kind_of(image)->waits;
}

int runtime_waits(const struct runtime_image *image, uint64_t bias, const struct target_memory *m,
		  struct runtime_wait_hints *hints, struct runtime_wait *waits, size_t nr)
{
	return kind_of(image)->waits(image, bias, m, hints, waits, nr);
}

/* ---- threads ---- */

bool runtime_knows_threads(const struct runtime_image *image)
{
	return image->is_known && kind_of(image)->thread_names;
}

int runtime_thread_names(const struct runtime_image *image, uint64_t bias,
			 const struct target_memory *m, struct runtime_thread_name *names,
			 size_t nr)
{
	return kind_of(image)->thread_names(image, bias, m, names, nr);
}
