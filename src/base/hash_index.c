/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/hash_index.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IX_REMOVED (IX_NONE - 1)

void ix_init(struct hash_index *ix)
{
	memset(ix, 0, sizeof(*ix));
}

void ix_release(struct hash_index *ix)
{
	free(ix->slots);
	memset(ix, 0, sizeof(*ix));
}

uint64_t hash_bytes(uint64_t seed, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = hash_u64(seed, len), w;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = hash_u64(h, w);
	}
	w = 0;
	if (len)
		memcpy(&w, p, len);
	return hash_u64(h, w);
}

/*
 * 32 bits of a 64-bit hash. hash ^ hash >> 32 would not do: hash_u64() ends with that step, and
 * doing it twice undoes it. The upper half of a product depends on all bits.
 */
static uint32_t fold(uint64_t hash)
{
	return (uint32_t)((hash * 0x9e3779b97f4a7c15ull) >> 32);
}

uint32_t ix_find(const struct hash_index *ix, uint64_t hash, ix_same_fn same, const void *ctx)
{
	uint32_t h = fold(hash), i;

	if (!ix->slots)
		return IX_NONE;
	for (i = h & ix->mask;; i = (i + 1) & ix->mask) {
		const struct ix_slot *s = &ix->slots[i];

		if (s->id == IX_NONE)
			return IX_NONE;
		if (s->hash == h && s->id != IX_REMOVED && same(ctx, s->id))
			return s->id;
	}
}

void ix_prefetch(const struct hash_index *ix, uint64_t hash)
{
	if (ix->slots)
		__builtin_prefetch(&ix->slots[fold(hash) & ix->mask]);
}

uint32_t ix_peek(const struct hash_index *ix, uint64_t hash)
{
	uint32_t id = ix->slots ? ix->slots[fold(hash) & ix->mask].id : IX_NONE;

	return id < IX_REMOVED ? id : IX_NONE;
}

static void place(struct ix_slot *slots, uint32_t mask, uint32_t h, uint32_t id)
{
	uint32_t i = h & mask;

	assert(mask && !(mask & (mask + 1)));	/* one less than a power of two */
	while (slots[i].id != IX_NONE)
		i = (i + 1) & mask;
	slots[i].hash = h;
	slots[i].id = id;
}

/* Twice the slots, or as many as before when most of the used ones are removed entries. */
static uint32_t better_size(const struct hash_index *ix)
{
	uint32_t n = ix->mask + 1, nr_live = 0;

	if (!ix->slots)
		return 64;
	for (uint32_t i = 0; i < n; i++)
		nr_live += ix->slots[i].id < IX_REMOVED;
	return nr_live > n / 8 * 3 ? n * 2 : n;
}

static int grow(struct hash_index *ix)
{
	uint32_t n = better_size(ix);
	struct ix_slot *slots = malloc((size_t)n * sizeof(*slots));
	uint32_t used = 0;

	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, (size_t)n * sizeof(*slots));
	for (uint32_t i = 0; ix->slots && i <= ix->mask; i++) {
		if (ix->slots[i].id >= IX_REMOVED)
			continue;
		place(slots, n - 1, ix->slots[i].hash, ix->slots[i].id);
		used++;
	}
	assert(used < n);		/* a search ends at a free slot */
	free(ix->slots);
	ix->slots = slots;
	ix->mask = n - 1;
	ix->used = used;
	return 0;
}

int ix_add(struct hash_index *ix, uint64_t hash, uint32_t id)
{
	assert(id < IX_REMOVED);
	if (!ix->slots || ix->used + 1 > ix->mask / 4 * 3) {
		int err = grow(ix);

		if (err)
			return err;
	}
	place(ix->slots, ix->mask, fold(hash), id);
	ix->used++;
	return 0;
}

void ix_remove(struct hash_index *ix, uint64_t hash, uint32_t id)
{
	uint32_t h = fold(hash), i;

	if (!ix->slots)
		return;
	for (i = h & ix->mask; ix->slots[i].id != IX_NONE; i = (i + 1) & ix->mask) {
		if (ix->slots[i].hash == h && ix->slots[i].id == id) {
			ix->slots[i].id = IX_REMOVED;
			return;
		}
	}
}
