/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/exported_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/elf/gnu_hash.h"

#define PIECE 4096u			/* symbols that are read at a time */
#define MAX_SYMBOLS (4u << 20)
#define MAX_STRINGS (256u << 20)

struct names {
	char *v;
	uint64_t size;
};

static void take(const struct names *names, const Elf64_Sym *sym, struct exported_symbol *v,
		 size_t nr)
{
	const char *name = names->v + sym->st_name;
	size_t left;

	if (sym->st_shndx == SHN_UNDEF || !sym->st_value || sym->st_name >= names->size)
		return;
	left = names->size - sym->st_name;
	for (size_t i = 0; i < nr; i++) {
		size_t bytes = strlen(v[i].name) + 1;

		if (v[i].vaddr || bytes > left || memcmp(v[i].name, name, bytes))
			continue;
		v[i].vaddr = sym->st_value;
		v[i].size = sym->st_size;
	}
}

static int search(struct elf_image *img, const struct elf_section *table,
		  struct exported_symbol *v, size_t nr)
{
	uint64_t count = table->size / sizeof(Elf64_Sym), at = table->offset;
	Elf64_Sym *piece = malloc(PIECE * sizeof(*piece));
	struct elf_section strings;
	struct names names = { 0 };
	int err = piece ? elf_image_section_at(img, table->link, &strings) : -ENOMEM;

	if (!err)
		err = elf_image_read(img, strings.offset, strings.size, MAX_STRINGS,
				     (void **)&names.v);
	names.size = err ? 0 : strings.size;
	if (!err && count > MAX_SYMBOLS)
		err = -EFBIG;
	while (!err && count) {
		uint64_t n = count < PIECE ? count : PIECE;
		long bytes = (long)(n * sizeof(*piece));

		if (elf_image_pread(img, piece, bytes, at) != bytes)
			err = -EBADMSG;
		for (uint64_t i = 0; !err && i < n; i++)
			take(&names, &piece[i], v, nr);
		count -= n;
		at += bytes;
	}
	free(names.v);
	free(piece);
	return err;
}

/* By the hash table. A file of which it is missing or damaged is searched through. */
static int look_up(struct elf_image *img, struct exported_symbol *v, size_t nr)
{
	struct gnu_hash h;
	int err = gnu_hash_open(img, &h);

	for (size_t i = 0; i < nr && !err; i++) {
		Elf64_Sym sym;

		err = gnu_hash_find(&h, v[i].name, &sym);
		if (!err && !v[i].vaddr) {
			v[i].vaddr = sym.st_value;
			v[i].size = sym.st_size;
		}
		err = err == -ENOENT ? 0 : err;
	}
	return err;
}

int exported_symbols_find(struct elf_image *img, struct exported_symbol *v, size_t nr)
{
	struct elf_section table;

	if (!img->is64 || !look_up(img, v, nr))
		return 0;
	if (!elf_image_section(img, ".dynsym", &table) && table.type == SHT_DYNSYM)
		return search(img, &table, v, nr);
	if (!elf_image_section(img, ".symtab", &table) && table.type == SHT_SYMTAB)
		return search(img, &table, v, nr);
	return 0;
}

int local_symbols_find(struct elf_image *img, struct exported_symbol *v, size_t nr)
{
	struct elf_section table;

	if (!img->is64 || elf_image_section(img, ".symtab", &table) || table.type != SHT_SYMTAB)
		return 0;
	return search(img, &table, v, nr);
}
