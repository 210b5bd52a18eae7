/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/sample_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/profile/weight_text.h"

_Static_assert(sizeof(struct sample_count) == 32, "two fit into a cache line");

struct count_key {
	const struct sample_count *v, *key;
};

static bool same_stack(const void *ctx, uint32_t id)
{
	const struct count_key *k = ctx;
	const struct sample_count *a = &k->v[id], *b = k->key;

	return a->ustack == b->ustack && a->kstack == b->kstack && a->root == b->root &&
	       a->end == b->end && a->segment == b->segment;
}

void sample_counts_release(struct sample_counts *c)
{
	free(c->v);
	ix_release(&c->index);
	memset(c, 0, sizeof(*c));
}

int sample_counts_add(struct sample_counts *c, const struct sample_count *key, size_t *at)
{
	struct count_key k = { c->v, key };
	uint64_t hash = hash_u64(hash_u64((uint64_t)key->segment << 32 | key->root, key->end),
				 (uint64_t)key->kstack << 32 | key->ustack);
	uint32_t id = ix_find(&c->index, hash, same_stack, &k);
	struct sample_count *row;

	if (at)
		*at = id != IX_NONE ? id : c->nr;
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
