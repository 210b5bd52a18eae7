/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for a few names among the symbols that an ELF file exports (.dynsym), or, in a file that is
 * linked statically, among all of its symbols (.symtab).
 *
 *	struct exported_symbol v[] = { { .name = "Py_Version" }, { .name = "_PyRuntime" } };
 *
 *	err = exported_symbols_find(img, v, 2);
 *
 * Exported names are looked up in the file's hash table (gnu_hash.h); without one, and for local
 * names, the symbol table is read in pieces. Nothing is kept.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/elf/elf_image.h"

struct exported_symbol {
	const char *name;
	uint64_t vaddr, size;		/* 0: not found; size may be 0 */
};

/* 0, also if none was found; or -errno of a damaged file. */
int exported_symbols_find(struct elf_image *img, struct exported_symbol *v, size_t nr);

/*
 * Looks among all of its symbols (.symtab), which a file that was stripped does not have. Returns
 * what exported_symbols_find() does.
 */
int local_symbols_find(struct elf_image *img, struct exported_symbol *v, size_t nr);
