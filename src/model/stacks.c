/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/stacks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"

#define CACHE_SLOTS 65536	/* a power of two; 24 bytes each */

struct stack_node {
	uint32_t parent, frame;
};

struct cache_slot {
	struct stack_hash hash;
	uint32_t node;
	uint32_t used;
};

struct stacks {
	struct stack_frame *frames;	/* [0] unused */
	size_t nr_frames, cap_frames;
	struct stack_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct hash_index frame_index, node_index;
	struct cache_slot *cache;
	size_t nr_cached;
};

struct stacks *stacks_new(void)
{
	struct stacks *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->cache = calloc(CACHE_SLOTS, sizeof(*st->cache));
	if (!st->cache || !array_push(&st->frames, &st->nr_frames, &st->cap_frames) ||
	    !array_push(&st->nodes, &st->nr_nodes, &st->cap_nodes)) {
		stacks_free(st);
		return NULL;
	}
	return st;
}

void stacks_free(struct stacks *st)
{
	if (!st)
		return;
	free(st->frames);
	free(st->nodes);
	free(st->cache);
	ix_release(&st->frame_index);
	ix_release(&st->node_index);
	free(st);
}

struct frame_key {
	const struct stacks *st;
	const struct stack_frame *f;
};

static bool same_frame(const void *ctx, uint32_t id)
{
	const struct frame_key *k = ctx;
	const struct stack_frame *f = &k->st->frames[id];

	return f->addr == k->f->addr && f->binary == k->f->binary && f->kind == k->f->kind &&
	       f->flags == k->f->flags;
}

uint32_t stacks_frame(struct stacks *st, const struct stack_frame *f, bool *is_new)
{
	uint64_t hash = hash_u64(hash_u64(f->addr, f->binary), (uint64_t)f->kind << 8 | f->flags);
	struct frame_key k = { st, f };
	uint32_t id = ix_find(&st->frame_index, hash, same_frame, &k);
	struct stack_frame *place;

	*is_new = id == IX_NONE;
	if (id != IX_NONE)
		return id;
	place = array_push(&st->frames, &st->nr_frames, &st->cap_frames);
	if (!place)
		return 0;
	*place = *f;
	id = (uint32_t)st->nr_frames - 1;
	if (ix_add(&st->frame_index, hash, id)) {
		st->nr_frames--;
		return 0;
	}
	return id;
}

struct node_key {
	const struct stacks *st;
	struct stack_node n;
};

static bool same_node(const void *ctx, uint32_t id)
{
	const struct node_key *k = ctx;
	const struct stack_node *n = &k->st->nodes[id];

	return n->parent == k->n.parent && n->frame == k->n.frame;
}

uint32_t stacks_node(struct stacks *st, uint32_t parent, uint32_t frame, bool *is_new)
{
	uint64_t hash = hash_u64(hash_u64(7, parent), frame);
	struct node_key k = { st, { parent, frame } };
	uint32_t id = ix_find(&st->node_index, hash, same_node, &k);
	struct stack_node *place;

	*is_new = id == IX_NONE;
	if (id != IX_NONE)
		return id;
	assert(parent < st->nr_nodes);
	place = array_push(&st->nodes, &st->nr_nodes, &st->cap_nodes);
	if (!place)
		return 0;
	*place = k.n;
	id = (uint32_t)st->nr_nodes - 1;
	if (ix_add(&st->node_index, hash, id)) {
		st->nr_nodes--;
		return 0;
	}
	return id;
}

const struct stack_frame *stacks_frame_at(const struct stacks *st, uint32_t id)
{
	return &st->frames[id < st->nr_frames ? id : 0];
}

size_t stacks_frames(const struct stacks *st)
{
	return st->nr_frames - 1;
}

size_t stacks_nodes(const struct stacks *st)
{
	return st->nr_nodes - 1;
}

size_t stacks_memory(const struct stacks *st)
{
	return st->cap_frames * sizeof(*st->frames) + st->cap_nodes * sizeof(*st->nodes) +
	       ix_memory(&st->frame_index) + ix_memory(&st->node_index) +
	       CACHE_SLOTS * sizeof(*st->cache);
}

void stack_hash_init(struct stack_hash *h, uint64_t seed)
{
	h->a = hash_u64(0x243f6a8885a308d3ull, seed);
	h->b = hash_u64(0x13198a2e03707344ull, ~seed);
}

void stack_hash_add(struct stack_hash *h, const uint64_t *v, size_t nr)
{
	uint64_t a = h->a, b = h->b;

	for (size_t i = 0; i < nr; i++) {
		a = hash_u64(a, v[i]);
		b = (b ^ v[i]) * 0xff51afd7ed558ccdull;
		b ^= b >> 29;
	}
	h->a = hash_u64(a, nr);
	h->b = b;
}

static struct cache_slot *slot_of(const struct stacks *st, const struct stack_hash *h)
{
	size_t i = h->a & (CACHE_SLOTS - 1);

	while (st->cache[i].used && (st->cache[i].hash.a != h->a || st->cache[i].hash.b != h->b))
		i = (i + 1) & (CACHE_SLOTS - 1);
	return &st->cache[i];
}

uint32_t stacks_cached(const struct stacks *st, const struct stack_hash *h)
{
	const struct cache_slot *s = slot_of(st, h);

	return s->used ? s->node : UINT32_MAX;
}

void stacks_remember(struct stacks *st, const struct stack_hash *h, uint32_t node)
{
	struct cache_slot *s;

	if (st->nr_cached > CACHE_SLOTS / 4 * 3) {
		memset(st->cache, 0, CACHE_SLOTS * sizeof(*st->cache));
		st->nr_cached = 0;
	}
	s = slot_of(st, h);
	st->nr_cached += !s->used;
	*s = (struct cache_slot){ *h, node, 1 };
}
