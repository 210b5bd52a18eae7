/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/stack_mirrors.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/capture/stacks/stack_blocks.h"
#include "src/capture/stacks/wire_decode.h"

#define ALL_OF_A_PAGE ((1u << WIRE_PAGE_BLOCKS) - 1)
#define MAX_MIRRORS 1024	/* the kernel's side has 64 */

struct mirror {
	uint32_t number;		/* of the delta applied last */
	uint64_t is_stale;		/* bit of each page that may differ from the kernel's */
	uint32_t ids[WIRE_BLOCKS];	/* blocks that were kept as they are here; 0: not kept */
	uint8_t bytes[WIRE_BLOCKS][WIRE_BLOCK];
};

struct stack_mirrors {
	struct stack_blocks *pool;
	struct mirror **v;		/* by number; NULL: none yet */
	size_t nr, cap;
	const uint8_t *blocks[WIRE_BLOCKS];	/* of the stack whose delta was applied last */
};

_Static_assert(WIRE_DELTA_PAGES <= 64 && WIRE_PAGE_BLOCKS <= 8, "masks of pages and blocks");

int stack_mirrors_new(size_t max, struct stack_mirrors **mp)
{
	struct stack_mirrors *m = calloc(1, sizeof(*m));
	int err = m ? stack_blocks_new(max, &m->pool) : -ENOMEM;

	if (err)
		stack_mirrors_free(m);
	else
		*mp = m;
	return err;
}

void stack_mirrors_free(struct stack_mirrors *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		free(m->v[i]);
	free(m->v);
	stack_blocks_free(m->pool);
	free(m);
}

/* Mirror number i. A new one is zero, as the kernel's is at its first delta, number 1. */
static struct mirror *mirror_of(struct stack_mirrors *m, uint32_t i)
{
	if (i >= MAX_MIRRORS || array_reserve(&m->v, &m->cap, (size_t)i + 1))
		return NULL;
	while (m->nr <= i)
		m->v[m->nr++] = NULL;
	if (!m->v[i])
		m->v[i] = calloc(1, sizeof(**m->v));
	return m->v[i];
}

static size_t place_of(const struct wire_stack *s, size_t block)
{
	uint32_t page = wire_mirror_page(s->delta, (uint32_t)(block / WIRE_PAGE_BLOCKS));

	return (size_t)page * WIRE_PAGE_BLOCKS + block % WIRE_PAGE_BLOCKS;
}

/* The bits of the blocks of a page of the stack that have changed. */
static uint32_t changes_of(const struct wire_delta *d, size_t page)
{
	size_t bit = page * WIRE_PAGE_BLOCKS;

	return (uint32_t)(d->changed[bit / 64] >> bit % 64) & ALL_OF_A_PAGE;
}

/* true: the delta needs only what the mirror has. Pages that come whole are no longer stale. */
static bool builds_on(struct mirror *mr, const struct wire_stack *s)
{
	bool fits = true;

	if (s->delta->number != mr->number + 1)
		mr->is_stale = WIRE_ALL_PAGES;
	mr->number = s->delta->number;
	for (size_t page = 0; page < s->bytes / UNWIND_MEMORY_PAGE; page++) {
		uint64_t bit = 1ull << place_of(s, page * WIRE_PAGE_BLOCKS) / WIRE_PAGE_BLOCKS;

		if (s->absent >> page & 1)
			continue;
		if (changes_of(s->delta, page) == ALL_OF_A_PAGE)
			mr->is_stale &= ~bit;
		fits = fits && !(mr->is_stale & bit);
	}
	return fits;
}

int stack_mirrors_apply(struct stack_mirrors *m, struct wire_stack *s)
{
	struct mirror *mr = mirror_of(m, s->delta->mirror);
	const uint8_t *from = (const uint8_t *)(s->delta + 1);
	bool fits;

	if (!mr)
		return -ENOMEM;
	fits = builds_on(mr, s);
	for (size_t i = 0; i < WIRE_BLOCKS; i++) {
		size_t at = place_of(s, i);

		m->blocks[i] = mr->bytes[at];
		if (!(s->delta->changed[i / 64] >> i % 64 & 1))
			continue;
		memcpy(mr->bytes[at], from, WIRE_BLOCK);
		from += WIRE_BLOCK;
		if (mr->ids[at])
			stack_blocks_drop(m->pool, mr->ids[at]);
		mr->ids[at] = 0;
	}
	s->blocks = m->blocks;
	return fits ? 0 : -EBADMSG;
}

/* The id of a block, with a reference for the caller. 0: there is no room. */
static uint32_t keep_block(struct stack_mirrors *m, const struct wire_stack *s, size_t block)
{
	uint32_t *id;

	if (!s->delta)
		return stack_blocks_put(m->pool, s->memory + block * WIRE_BLOCK);
	id = &m->v[s->delta->mirror]->ids[place_of(s, block)];
	if (!*id)
		*id = stack_blocks_put(m->pool, m->blocks[block]);
	if (*id)
		stack_blocks_share(m->pool, *id);
	return *id;
}

int stack_mirrors_keep(struct stack_mirrors *m, const struct wire_stack *s, uint32_t *ids)
{
	size_t nr = s->bytes / WIRE_BLOCK;

	assert(nr <= WIRE_BLOCKS && (s->memory || s->delta));
	for (size_t i = 0; i < nr; i++) {
		bool is_absent = s->absent >> i / WIRE_PAGE_BLOCKS & 1;

		ids[i] = is_absent ? 0 : keep_block(m, s, i);
		if (ids[i] || is_absent)
			continue;
		stack_mirrors_drop(m, ids, i);
		return -ENOMEM;
	}
	return (int)nr;
}

void stack_mirrors_blocks(const struct stack_mirrors *m, const uint32_t *ids, size_t nr,
			  const uint8_t **out)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = ids[i] ? stack_blocks_at(m->pool, ids[i]) : NULL;
}

void stack_mirrors_drop(struct stack_mirrors *m, const uint32_t *ids, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (ids[i])
			stack_blocks_drop(m->pool, ids[i]);
}

void stack_mirrors_forget(struct stack_mirrors *m)
{
	for (size_t k = 0; k < m->nr; k++) {
		for (size_t i = 0; m->v[k] && i < WIRE_BLOCKS; i++) {
			if (m->v[k]->ids[i])
				stack_blocks_drop(m->pool, m->v[k]->ids[i]);
			m->v[k]->ids[i] = 0;
		}
	}
}

size_t stack_mirrors_used(const struct stack_mirrors *m)
{
	return stack_blocks_used(m->pool);
}
