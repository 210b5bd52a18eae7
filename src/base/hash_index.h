/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An index with open addressing from a 64-bit hash to a dense 32-bit id. The caller keeps the data
 * behind the id, in an array of its own.
 *
 *	ix_find(&ix, hash, same, ctx)	id of the entry for which same(ctx, id) is true, or IX_NONE
 *	ix_add(&ix, hash, id)		after a failed find; 0 or -ENOMEM
 *	ix_remove(&ix, hash, id)	removes the entry if it is there
 *	ix_prefetch(&ix, hash)		brings the slot of a later find into the cache
 *	ix_peek(&ix, hash)		the id that a find will probably look at, or IX_NONE
 *
 * Embedded: ix_init() (or all zero) .. ix_release(). Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IX_NONE UINT32_MAX

struct ix_slot {
	uint32_t hash;
	uint32_t id;		/* IX_NONE: free; IX_NONE - 1: removed */
};

struct hash_index {
	struct ix_slot *slots;
	uint32_t mask;		/* number of slots - 1; 0 before the first add */
	uint32_t used;		/* slots not free, removed ones included */
};

typedef bool (*ix_same_fn)(const void *ctx, uint32_t id);

void ix_init(struct hash_index *ix);
void ix_release(struct hash_index *ix);
uint32_t ix_find(const struct hash_index *ix, uint64_t hash, ix_same_fn same, const void *ctx);
int ix_add(struct hash_index *ix, uint64_t hash, uint32_t id);
void ix_remove(struct hash_index *ix, uint64_t hash, uint32_t id);
void ix_prefetch(const struct hash_index *ix, uint64_t hash);
uint32_t ix_peek(const struct hash_index *ix, uint64_t hash);

static inline size_t ix_memory(const struct hash_index *ix)	/* bytes that it takes */
{
	return ix->slots ? ((size_t)ix->mask + 1) * sizeof(*ix->slots) : 0;
}

/* Mixes one word into a hash; good enough to feed any bits. */
static inline uint64_t hash_u64(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 32);
}

uint64_t hash_bytes(uint64_t seed, const void *data, size_t len);
