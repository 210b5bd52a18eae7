/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf_unwind/coroutine_starts.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "unwind/cfi.h"

#define MAX_BYTES (1u << 20)		/* of a table: these functions are in small libraries */

/* How their names begin: the parameters differ from version to version. */
static const char *const names[] = {
	"_ZN8greenlet12UserGreenlet15inner_bootstrapE",
};

static bool is_start(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void mark(struct cfi_rows *rows, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < rows->nr; i++) {
		struct cfi_row *r = &rows->v[i];

		if (r->vaddr >= lo && r->vaddr < hi && r->rule.cfa != CFA_NONE)
			r->rule = (struct unwind_rule){ .cfa = CFA_ROOT };
	}
}

static void mark_all(const Elf64_Sym *syms, size_t nr, const char *text, size_t len,
		     struct cfi_rows *rows)
{
	for (size_t i = 0; i < nr; i++)
		if (ELF64_ST_TYPE(syms[i].st_info) == STT_FUNC && syms[i].st_shndx != SHN_UNDEF &&
		    syms[i].st_name < len && is_start(text + syms[i].st_name))
			mark(rows, syms[i].st_value, syms[i].st_value + syms[i].st_size);
}

int coroutine_starts_mark(struct elf_image *img, struct cfi_rows *rows)
{
	struct elf_section table, strings;
	void *syms = NULL, *text = NULL;
	int err;

	if (elf_image_section(img, ".dynsym", &table) ||
	    elf_image_section_at(img, table.link, &strings))
		return 0;
	err = elf_image_read(img, strings.offset, strings.size, MAX_BYTES, &text);
	if (!err)
		err = elf_image_read(img, table.offset, table.size, MAX_BYTES, &syms);
	if (!err) {
		((char *)text)[strings.size] = 0;
		mark_all(syms, table.size / sizeof(Elf64_Sym), text, strings.size, rows);
	}
	free(syms);
	free(text);
	return err == -ENOMEM ? err : 0;
}
