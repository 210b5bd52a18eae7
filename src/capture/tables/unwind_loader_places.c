/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's side finds by a number: the place of a table. */
#include <assert.h>
#include <string.h>

#include "src/capture/tables/unwind_loader_parts.h"

uint64_t *unwind_loader_versions(struct unwind_loader *l)
{
	return (uint64_t *)(void *)l->pages;
}

uint32_t unwind_loader_number(void *ctx, uint32_t binary)
{
	struct unwind_loader *l = ctx;
	const struct table_ref *ref = unwind_loader_ref(l, binary);

	if (!binary)
		return 0;
	if (!ref)
		return UNWIND_NO_NUMBER;
	if (unwind_loader_is_window(binary))
		return UNWIND_NUMBERS + (binary - UNWIND_FIRST_WINDOW);
	if (ref->table)
		return l->tables[ref->table - 1].number;
	return ref->place.page0 == UNWIND_TABLE_NEVER ? UNWIND_NUMBER_NEVER : UNWIND_NO_NUMBER;
}

void unwind_loader_changed(struct unwind_loader *l)
{
	__atomic_fetch_add(&unwind_loader_versions(l)[UNWIND_TABLES_VERSION], 1, __ATOMIC_RELEASE);
}

int unwind_loader_need_number(struct unwind_loader *l, uint32_t number)
{
	return mapped_array_need(&l->binary_array, number * sizeof(*l->binaries),
				 sizeof(*l->binaries));
}

void unwind_loader_publish(struct unwind_loader *l, uint32_t number, struct unwind_binary place)
{
	uint64_t word;

	assert(number < UNWIND_MAX_BINARIES);
	memcpy(&word, &place, sizeof(word));
	if (unwind_loader_need_number(l, number))
		return;			/* there is no table by that number, as before */
	__atomic_store_n((uint64_t *)(void *)&l->binaries[number], word, __ATOMIC_RELEASE);
	unwind_loader_changed(l);
}

void unwind_loader_refer(struct unwind_loader *l, uint32_t binary, struct table_ref *ref,
			 uint32_t table, struct unwind_binary place)
{
	uint64_t word;

	assert(ref->table <= l->nr_tables && table <= l->nr_tables);
	assert(!ref->table || l->tables[ref->table - 1].nr_refs);
	assert(!table || l->tables[table - 1].state == PLACE_LIVE);
	if (ref->table)
		l->tables[ref->table - 1].nr_refs--;
	ref->table = table;
	if (table)
		l->tables[table - 1].nr_refs++;
	memcpy(&word, &place, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)&ref->place, word, __ATOMIC_RELEASE);
	if (unwind_loader_is_window(binary))
		unwind_loader_publish(l, unwind_loader_number(l, binary), place);
	else
		unwind_slices_renumber(&l->slices, binary, unwind_loader_number(l, binary));
	unwind_loader_changed(l);
}
