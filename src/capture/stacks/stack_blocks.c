/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/stack_blocks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SHIFT 11
#define CHUNK_BLOCKS (1u << CHUNK_SHIFT)	/* a chunk is a MiB */
#define SPARE_CHUNKS 2			/* are kept once they were made */
#define NO_BLOCK UINT16_MAX

struct chunk {
	uint32_t nr_used;
	uint16_t first_free, fresh;	/* a list through next[]; from fresh on none was used yet */
	uint16_t next[CHUNK_BLOCKS];
	uint32_t refs[CHUNK_BLOCKS];
	uint8_t bytes[CHUNK_BLOCKS][WIRE_BLOCK];
};

struct stack_blocks {
	struct chunk **chunks;		/* NULL where there is none */
	uint32_t nr_chunks;
	uint32_t hint;			/* the chunk in which the last block was put */
	size_t used, bytes;
};

int stack_blocks_new(size_t max, struct stack_blocks **pp)
{
	struct stack_blocks *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->nr_chunks = (uint32_t)(max / sizeof(struct chunk));
	p->chunks = calloc(p->nr_chunks + 1, sizeof(*p->chunks));
	if (!p->chunks) {
		free(p);
		return -ENOMEM;
	}
	*pp = p;
	return 0;
}

void stack_blocks_free(struct stack_blocks *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nr_chunks; i++)
		free(p->chunks[i]);
	free(p->chunks);
	free(p);
}

static struct chunk *new_chunk(struct stack_blocks *p, uint32_t at)
{
	struct chunk *c = malloc(sizeof(*c));	/* its pages are taken as they are written */

	if (!c)
		return NULL;
	c->nr_used = 0;
	c->first_free = NO_BLOCK;
	c->fresh = 0;
	p->chunks[at] = c;
	p->bytes += sizeof(*c);
	return c;
}

/* A chunk with room: the one used last, else the first, or a new one. NULL: there is no room. */
static struct chunk *find_chunk(struct stack_blocks *p)
{
	uint32_t none = UINT32_MAX;

	for (uint32_t i = 0; i <= p->nr_chunks && p->nr_chunks; i++) {
		uint32_t at = i ? i - 1 : p->hint;
		struct chunk *c = p->chunks[at];

		if (c && c->nr_used < CHUNK_BLOCKS) {
			p->hint = at;
			return c;
		}
		if (!c && none == UINT32_MAX)
			none = at;
	}
	if (none == UINT32_MAX)
		return NULL;
	p->hint = none;
	return new_chunk(p, none);
}

uint32_t stack_blocks_put(struct stack_blocks *p, const void *bytes)
{
	struct chunk *c = find_chunk(p);
	uint16_t at;

	if (!c)
		return 0;
	at = c->first_free;
	if (at != NO_BLOCK)
		c->first_free = c->next[at];
	else
		at = c->fresh++;
	assert(at < CHUNK_BLOCKS);
	c->nr_used++;
	c->refs[at] = 1;
	memcpy(c->bytes[at], bytes, WIRE_BLOCK);
	p->used += WIRE_BLOCK;
	return (p->hint << CHUNK_SHIFT | at) + 1;
}

static struct chunk *chunk_of(const struct stack_blocks *p, uint32_t id, uint32_t *at)
{
	struct chunk *c;

	assert(id && (id - 1) >> CHUNK_SHIFT < p->nr_chunks);
	c = p->chunks[(id - 1) >> CHUNK_SHIFT];
	*at = (id - 1) & (CHUNK_BLOCKS - 1);
	assert(c && c->refs[*at]);
	return c;
}

void stack_blocks_share(struct stack_blocks *p, uint32_t id)
{
	uint32_t at;
	struct chunk *c = chunk_of(p, id, &at);

	assert(c->refs[at] < UINT32_MAX);
	c->refs[at]++;
}

void stack_blocks_drop(struct stack_blocks *p, uint32_t id)
{
	uint32_t at;
	struct chunk *c = chunk_of(p, id, &at);

	if (--c->refs[at])
		return;
	assert(p->used >= WIRE_BLOCK && c->nr_used);
	p->used -= WIRE_BLOCK;
	c->next[at] = c->first_free;
	c->first_free = (uint16_t)at;
	if (--c->nr_used)
		return;
	/* To give back a mapping waits for the memory map's lock, which workers hold for long. */
	if ((id - 1) >> CHUNK_SHIFT < SPARE_CHUNKS)
		return;
	p->bytes -= sizeof(*c);
	p->chunks[(id - 1) >> CHUNK_SHIFT] = NULL;
	free(c);
}

const uint8_t *stack_blocks_at(const struct stack_blocks *p, uint32_t id)
{
	uint32_t at;

	return chunk_of(p, id, &at)->bytes[at];
}

size_t stack_blocks_used(const struct stack_blocks *p)
{
	return p->used;
}

size_t stack_blocks_bytes(const struct stack_blocks *p)
{
	return p->bytes;
}
