/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/symbol_set.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/radix_sort.h"

#define MAX_SYMBOLS (4u << 20)
#define LOOK_BACK 64		/* symbols between an address and the one that covers it */

static bool is_wanted_segment(const struct symbol_set *s, const struct elf_segment *seg)
{
	return s->of_variables ? seg->write : seg->exec;
}

/* The segment of code, or of variables, that has addr. */
static const struct elf_segment *segment_at(const struct symbol_set *s, uint64_t addr)
{
	for (size_t i = 0; i < s->img->nr_segments; i++) {
		const struct elf_segment *seg = &s->img->segments[i];

		if (is_wanted_segment(s, seg) && addr >= seg->vaddr &&
		    addr - seg->vaddr < seg->memsz)
			return seg;
	}
	return NULL;
}

void symbol_set_init(struct symbol_set *s, struct elf_image *img, bool of_variables)
{
	memset(s, 0, sizeof(*s));
	s->img = img;
	s->of_variables = of_variables;
	s->sorted = true;
	s->base = UINT64_MAX;
	for (size_t i = 0; i < img->nr_segments; i++)
		if (is_wanted_segment(s, &img->segments[i]) && img->segments[i].vaddr < s->base)
			s->base = img->segments[i].vaddr;
}

/* Assembly may have functions without a type. */
bool symbol_set_wants(const struct symbol_set *s, uint8_t type)
{
	if (s->of_variables)
		return type == STT_OBJECT || type == STT_COMMON;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static int compare(const struct elf_sym *a, const struct elf_sym *b)
{
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static int by_address(const void *a, const void *b)
{
	return compare(a, b);
}

int symbol_set_add(struct symbol_set *s, uint64_t addr, uint64_t size, enum symbol_rank rank,
		   enum name_table table, uint64_t name)
{
	struct elf_sym *sym;

	if (!segment_at(s, addr) || addr - s->base > UINT32_MAX || name > SYMBOL_MAX_NAME ||
	    (s->of_variables && !size))
		return 0;
	if (s->nr >= MAX_SYMBOLS)
		return -EFBIG;
	sym = array_push(&s->v, &s->nr, &s->cap);
	if (!sym)
		return -ENOMEM;
	sym->addr = (uint32_t)(addr - s->base);
	sym->size = size < SYMBOL_MAX_SIZE ? (uint32_t)size : SYMBOL_MAX_SIZE;
	sym->rank = rank;
	sym->table = table;
	sym->name = (uint32_t)name;
	s->sorted &= s->nr < 2 || compare(sym - 1, sym) <= 0;
	return 0;
}

static uint64_t address_of(const void *element)
{
	return ((const struct elf_sym *)element)->addr;
}

/* Puts those of one address in order, which are next to each other. */
static void sort_aliases(struct symbol_set *s)
{
	for (size_t i = 0, next; i < s->nr; i = next) {
		for (next = i + 1; next < s->nr && s->v[next].addr == s->v[i].addr; next++)
			;
		if (next - i > 1)
			qsort(&s->v[i], next - i, sizeof(*s->v), by_address);
	}
}

void symbol_set_sort(struct symbol_set *s)
{
	if (!s->sorted && !radix_sort(s->v, s->nr, sizeof(*s->v), address_of))
		sort_aliases(s);
	else if (!s->sorted)
		qsort(s->v, s->nr, sizeof(*s->v), by_address);
	s->sorted = true;
}

size_t symbol_set_after(const struct elf_sym *v, size_t nr, uint32_t addr)
{
	return bisect(nr, i, v[i].addr <= addr);
}

const struct elf_sym *symbol_set_covering(const struct elf_sym *v, size_t nr, uint32_t addr)
{
	size_t after = symbol_set_after(v, nr, addr);

	for (size_t i = after; i > 0 && after - i < LOOK_BACK; i--)
		if (addr - v[i - 1].addr < v[i - 1].size)
			return &v[i - 1];
	return NULL;
}

bool symbol_set_covers(const struct symbol_set *s, uint64_t addr)
{
	assert(s->sorted);
	return addr >= s->base && addr - s->base <= UINT32_MAX &&
	       symbol_set_covering(s->v, s->nr, (uint32_t)(addr - s->base));
}

/*
 * Where symbol i ends, which has no size: at the next symbol that counts, or at the end of the
 * code.
 */
static uint64_t open_end(const struct symbol_set *s, size_t i)
{
	const struct elf_segment *seg = segment_at(s, s->base + s->v[i].addr);
	uint64_t end;

	assert(seg);			/* symbol_set_add() takes no other symbols */
	end = seg->vaddr + seg->memsz - s->base;
	for (size_t j = i + 1; j < s->nr; j++)
		if (s->v[j].addr > s->v[i].addr &&
		    (s->v[j].rank != RANK_LABEL || s->v[i].rank == RANK_LABEL))
			return s->v[j].addr < end ? s->v[j].addr : end;
	return end;
}

/* The largest size among the aliases of symbol i, which are next to each other. */
static uint32_t size_of_aliases(const struct symbol_set *s, size_t i)
{
	uint32_t size = 0;

	for (size_t j = i; j < s->nr && s->v[j].addr == s->v[i].addr; j++)
		if (s->v[j].size > size)
			size = s->v[j].size;
	return size;
}

/*
 * Goes from one address to the next. Labels, and symbols without a size, that lie inside a function
 * are places in it and not functions, so they are dropped; so are labels at the start of a
 * function.
 */
void symbol_set_finish(struct symbol_set *s)
{
	uint64_t covered = 0;
	size_t kept = 0;

	symbol_set_sort(s);
	for (size_t i = 0, next; i < s->nr; i = next) {
		uint32_t addr = s->v[i].addr, own = size_of_aliases(s, i), best = s->v[i].rank;
		uint64_t size = own ? own : open_end(s, i) - addr;
		bool inside = addr < covered && (!own || best == RANK_LABEL);

		for (next = i; next < s->nr && s->v[next].addr == addr; next++) {
			if (inside || (s->v[next].rank >= RANK_LABEL && s->v[next].rank != best))
				continue;
			if (!s->v[next].size) {
				s->v[next].size =
					size < SYMBOL_MAX_SIZE ? (uint32_t)size : SYMBOL_MAX_SIZE;
				s->v[next].is_open = !own;
			}
			s->v[kept++] = s->v[next];
		}
		if (!inside && addr + size > covered)
			covered = addr + size;
	}
	s->nr = kept;
}
