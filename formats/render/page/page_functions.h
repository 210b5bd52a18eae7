/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a page: what makes nodes of a call tree those of one function, each once.
 *
 *	struct page_functions f = { .strings = strings of the page };
 *	page_functions_begin_tree(&f, names)	once for each tree: the table of its nodes' names
 *	id = page_function_of(&f, node)		found or made; IX_NONE: out of memory
 *	f.v[id], f.nr
 *	page_functions_release(&f)
 *
 * Ids are dense and never change. Both tables of strings are borrowed; strings only grows. A
 * function that several trees have is one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct intern;
struct node;

/* All fields are columns of the page: see functions in page_tables.h. */
struct page_function {
	uint32_t name, shown, brief, method, binary, file, line, kind, same;
};

#define PAGE_FUNCTION_FIELDS (sizeof(struct page_function) / sizeof(uint32_t))

struct page_functions {
	const struct intern *names;
	struct intern *strings;
	bool full_names;		/* shown is the name itself */
	uint32_t *string_of;		/* by name of the tree: of the page, plus 1 */
	size_t cap_string_of;
	struct page_function *v;
	size_t nr, cap;
	struct hash_index index, same;
};

void page_functions_begin_tree(struct page_functions *f, const struct intern *names);
uint32_t page_function_of(struct page_functions *f, const struct node *n);
void page_functions_release(struct page_functions *f);

/* The nth field of a function, in the order of page_tables.h. */
static inline uint32_t page_function_field(const struct page_function *f, size_t nth)
{
	return ((const uint32_t *)f)[nth];
}
