/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects and sorts the functions of one ELF file, or its variables. Internal to elf_symbols.c and
 * its sources of symbols.
 *
 *	struct symbol_set set;
 *	symbol_set_init(&set, img, of_variables)
 *	symbol_set_add(&set, ...)		any order, any number
 *	symbol_set_sort(&set)			then symbol_set_covers() may be asked
 *	symbol_set_finish(&set)			gives sizes to those without, drops useless ones
 *	set.v, set.nr				the caller's to free
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/elf/elf_image.h"

/* Which bytes the name offset of a symbol is relative to. */
enum name_table { NAMES_SYMTAB, NAMES_DYNSYM, NAMES_GO, NAMES_KNOWN, NAME_TABLES };

/* Sources of names by quality; of several symbols at one address a smaller one is shown. */
enum symbol_rank { RANK_GLOBAL, RANK_WEAK, RANK_LOCAL, RANK_LABEL, RANK_SECTION, RANK_PLT };

#define SYMBOL_MAX_SIZE ((1u << 28) - 1)
#define SYMBOL_MAX_NAME ((1u << 29) - 1)

struct elf_sym {
	uint32_t addr;			/* minus the set's base */
	uint32_t size : 28, is_open : 1, rank : 3;	/* is_open: has no size of its own */
	uint32_t name : 29, table : 3;
};

struct symbol_set {
	struct elf_image *img;		/* the binary itself, not its debug file */
	bool of_variables;		/* instead of functions */
	uint64_t base;			/* lowest address of code or data; the set spans 4 GiB */
	struct elf_sym *v;
	size_t nr, cap;
	bool sorted;
};

void symbol_set_init(struct symbol_set *s, struct elf_image *img, bool of_variables);

/* Whether symbols of a type (STT_...) are what the set is of. */
bool symbol_set_wants(const struct symbol_set *s, uint8_t type);

/*
 * Symbols outside of code (variables: outside of data that can be written), or too large for a
 * field, are left out, and so are variables without a size. 0, -ENOMEM, -EFBIG: too many.
 */
int symbol_set_add(struct symbol_set *s, uint64_t addr, uint64_t size, enum symbol_rank rank,
		   enum name_table table, uint64_t name);
void symbol_set_sort(struct symbol_set *s);
void symbol_set_finish(struct symbol_set *s);

/*
 * In a sorted set: the index of the first symbol above addr; the symbol that covers addr, or NULL.
 */
size_t symbol_set_after(const struct elf_sym *v, size_t nr, uint32_t addr);
const struct elf_sym *symbol_set_covering(const struct elf_sym *v, size_t nr, uint32_t addr);
bool symbol_set_covers(const struct symbol_set *s, uint64_t addr);

/*
 * plt_symbols.c adds the stubs of .plt and its like; the set must be sorted. go_symbols.c adds the
 * functions of Go's .gopclntab, and *names becomes the place of their names in the file; -ENOENT:
 * no such table, or an unknown layout.
 */
int plt_symbols_add(struct symbol_set *s);
int go_symbols_add(struct symbol_set *s, uint64_t *names_offset, uint64_t *names_size);
