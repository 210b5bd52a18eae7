/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_counts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/live/live_profile.h"

void live_counts_release(struct live_counts *c)
{
	free(c->v);
	ix_release(&c->index);
	memset(c, 0, sizeof(*c));
}

struct count_key {
	const struct live_count *v;
	const struct live_count *key;
};

static bool same_count(const void *ctx, uint32_t id)
{
	const struct count_key *k = ctx;
	const struct live_count *a = &k->v[id], *b = k->key;

	return a->ustack == b->ustack && a->kstack == b->kstack && a->thread == b->thread &&
	       a->event == b->event && a->end == b->end && a->flags == b->flags &&
	       a->activity == b->activity;
}

uint32_t live_counts_find(struct live_counts *counts, const struct live_count *key)
{
	struct count_key k = { counts->v, key };
	uint64_t hash = hash_u64(hash_u64((uint64_t)key->event << 32 | key->thread,
					  (uint64_t)key->activity << 40 |
						  (uint64_t)key->flags << 8 | key->end),
				 (uint64_t)key->kstack << 32 | key->ustack);
	uint32_t id = ix_find(&counts->index, hash, same_count, &k);
	struct live_count *c;

	assert(id == IX_NONE || id < counts->nr);
	if (id != IX_NONE)
		return id;
	if (counts->nr >= IX_NONE - 2)
		return IX_NONE;
	c = array_push(&counts->v, &counts->nr, &counts->cap);
	if (!c)
		return IX_NONE;
	*c = *key;
	c->samples = c->weight = 0;
	id = (uint32_t)counts->nr - 1;
	return ix_add(&counts->index, hash, id) ? IX_NONE : id;
}
