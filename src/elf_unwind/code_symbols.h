/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the symbol tables and relocations of an x86-64 file say about its code: where functions
 * start, and which of them never return. From damaged tables fewer functions are known.
 */
#pragma once

#include "src/elf/elf_image.h"

struct address_list {
	uint64_t *v;			/* address_list_sort() makes them ascending and distinct */
	size_t nr, cap;
};

struct code_symbols {
	struct address_list starts;
	struct address_list noreturn;	/* functions, and slots of the global offset table */
};

/* 0 or -ENOMEM; *out must be all zero before, and released in any case. */
int code_symbols_read(struct elf_image *img, struct code_symbols *out);
void code_symbols_release(struct code_symbols *s);
int address_list_add(struct address_list *list, uint64_t addr);
void address_list_sort(struct address_list *list);
