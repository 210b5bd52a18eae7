/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the symbol tables and relocations of an x86-64 file tell a reader of its code: where
 * functions start, and which of them never return. Damage means fewer of them.
 */
#pragma once

#include "src/elf/elf_image.h"

struct address_list {
	uint64_t *v;			/* ascending, no two equal once code_symbols_read() is
					   done */
	size_t nr, cap;
};

struct code_symbols {
	struct address_list starts;
	struct address_list noreturn;	/* functions, and slots of the global offset table */
};

/* 0 or -ENOMEM; release in any case. *out is all zero before. */
int code_symbols_read(struct elf_image *img, struct code_symbols *out);
void code_symbols_release(struct code_symbols *s);
int address_list_add(struct address_list *list, uint64_t addr);
void address_list_sort(struct address_list *list);
