/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/kernel_text.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"

#define MAX_NAMES (64u << 20)
#define MAX_SYMBOLS (8u << 20)
#define PART 4096			/* symbols that are read at a time */

/* On x86-64 both are one address; on arm64 _stext is behind the header of the image. */
uint64_t kernel_text_begin(uint64_t text, uint64_t stext)
{
	return text && (text < stext || !stext) ? text : stext;
}

struct names {
	char *v;
	uint64_t len;
};

static bool is_named(const struct names *n, uint32_t at, const char *name)
{
	size_t len = strlen(name) + 1;

	return at < n->len && len <= n->len - at && !memcmp(n->v + at, name, len);
}

static int look_through(struct elf_image *img, const struct elf_section *sec, const struct names *n,
			uint64_t *start)
{
	uint64_t nr = sec->size / sizeof(Elf64_Sym), text = 0, stext = 0;
	Elf64_Sym *part = malloc(PART * sizeof(*part));
	long got = 0;

	for (uint64_t i = 0; part && i < nr && i < MAX_SYMBOLS && !(text && stext); i += PART) {
		uint64_t left = nr - i < PART ? nr - i : PART;

		got = elf_image_pread(img, part, left * sizeof(*part),
				      sec->offset + i * sizeof(*part));
		if (got < (long)(left * sizeof(*part)))
			break;
		for (uint64_t k = 0; k < left; k++)
			if (is_named(n, part[k].st_name, "_text"))
				text = part[k].st_value;
			else if (is_named(n, part[k].st_name, "_stext"))
				stext = part[k].st_value;
	}
	if (!part)
		return -ENOMEM;
	free(part);
	*start = kernel_text_begin(text, stext);
	return got < 0 ? (int)got : *start ? 0 : -ENOENT;
}

int kernel_text_of_file(struct elf_image *img, uint64_t *start)
{
	struct elf_section symbols, strings;
	struct names n = { 0 };
	int err;

	if (!img->is64 || elf_image_section(img, ".symtab", &symbols) ||
	    elf_image_section_at(img, symbols.link, &strings))
		return -ENOENT;
	n.len = strings.size;
	err = elf_image_read(img, strings.offset, n.len, MAX_NAMES, (void **)&n.v);
	if (!err)
		err = look_through(img, &symbols, &n, start);
	free(n.v);
	return err;
}
