/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/sample_counts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/report/weight_text.h"

_Static_assert(sizeof(struct sample_count) == 32, "two fit into a cache line");

struct count_key {
	const struct sample_count *v, *key;
};

static bool same_stack(const void *ctx, uint32_t id)
{
	const struct count_key *k = ctx;
	const struct sample_count *a = &k->v[id], *b = k->key;

	return a->ustack == b->ustack && a->kstack == b->kstack && a->root == b->root &&
	       a->end == b->end && a->kind == b->kind && a->segment == b->segment;
}

void sample_counts_release(struct sample_counts *c)
{
	free(c->v);
	ix_release(&c->index);
	memset(c, 0, sizeof(*c));
}

static uint64_t hash_of(const struct sample_count *key)
{
	return hash_u64(hash_u64((uint64_t)key->segment << 32 | key->root,
				 (uint64_t)key->kind << 8 | key->end),
			(uint64_t)key->kstack << 32 | key->ustack);
}

static int add(struct sample_counts *c, const struct sample_count *key, uint64_t hash, size_t *at)
{
	struct count_key k = { c->v, key };
	uint32_t id = ix_find(&c->index, hash, same_stack, &k);
	struct sample_count *row;

	if (at)
		*at = id != IX_NONE ? id : c->nr;
	assert(id == IX_NONE || id < c->nr);
	if (id != IX_NONE) {
		c->v[id].count += key->count;
		c->v[id].weight = weight_sum(c->v[id].weight, key->weight);
		return 0;
	}
	row = c->nr < IX_NONE - 2 ? array_push(&c->v, &c->nr, &c->cap) : NULL;
	if (!row || ix_add(&c->index, hash, (uint32_t)c->nr - 1))
		return -ENOMEM;
	*row = *key;
	return 0;
}

void sample_counts_expect(struct sample_counts *c, const struct sample_count *key, size_t *at)
{
	uint64_t *hash = &c->expected[c->nr_expected++ % COUNTS_EXPECTED];
	uint32_t id = c->nr_expected > COUNTS_EXPECTED ? ix_peek(&c->index, *hash) : IX_NONE;

	*at = id == IX_NONE ? SIZE_MAX : id;
	if (id != IX_NONE)
		__builtin_prefetch(&c->v[id], 1);
	*hash = hash_of(key);
	ix_prefetch(&c->index, *hash);
}

int sample_counts_settle(struct sample_counts *c)
{
	size_t nr = c->nr_waiting;
	int err = 0;

	c->nr_waiting = 0;
	for (size_t i = 0; i < nr; i++) {
		uint32_t id = ix_peek(&c->index, c->hashes[i]);

		if (id != IX_NONE)
			__builtin_prefetch(&c->v[id]);
	}
	for (size_t i = 0; i < nr && !err; i++)
		err = add(c, &c->waiting[i], c->hashes[i], NULL);
	return err;
}

int sample_counts_put(struct sample_counts *c, const struct sample_count *key)
{
	uint64_t hash = hash_of(key);

	ix_prefetch(&c->index, hash);
	assert(c->nr_waiting < COUNTS_WAITING);
	c->hashes[c->nr_waiting] = hash;
	c->waiting[c->nr_waiting++] = *key;
	return c->nr_waiting == COUNTS_WAITING ? sample_counts_settle(c) : 0;
}

int sample_counts_reaches(struct sample_counts *c, size_t limit)
{
	int err = c->nr + c->nr_waiting < limit ? 0 : sample_counts_settle(c);

	return err ? err : c->nr >= limit;
}

int sample_counts_add(struct sample_counts *c, const struct sample_count *key, size_t *at)
{
	int err = sample_counts_settle(c);

	return err ? err : add(c, key, hash_of(key), at);
}
