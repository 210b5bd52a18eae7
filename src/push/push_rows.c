/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_rows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/report/weight_text.h"

struct row_search {
	const struct push_row *v, *key;
};

/* All fields before the sums are the key, and the struct has no padding. */
#define KEY_BYTES offsetof(struct push_row, count)
_Static_assert(sizeof(struct push_row) == 8 * sizeof(uint32_t) + 4 * sizeof(uint64_t),
	       "the key is compared as bytes");

static bool same_row(const void *ctx, uint32_t id)
{
	const struct row_search *s = ctx;

	return !memcmp(&s->v[id], s->key, KEY_BYTES);
}

void push_rows_release(struct push_rows *r)
{
	free(r->v);
	ix_release(&r->index);
	memset(r, 0, sizeof(*r));
}

int push_rows_add(struct push_rows *r, const struct push_row *row)
{
	const struct row_search s = { r->v, row };
	uint64_t hash = hash_bytes(0, row, KEY_BYTES);
	uint32_t id = ix_find(&r->index, hash, same_row, &s);
	struct push_row *new;

	assert(id == IX_NONE || id < r->nr);
	if (id != IX_NONE) {
		r->v[id].count = weight_sum(r->v[id].count, row->count);
		r->v[id].weight = weight_sum(r->v[id].weight, row->weight);
		return 0;
	}
	new = r->nr < IX_NONE - 2 ? array_push(&r->v, &r->nr, &r->cap) : NULL;
	if (!new || ix_add(&r->index, hash, (uint32_t)r->nr - 1))
		return -ENOMEM;
	*new = *row;
	return 0;
}

#define COMPARE(field)                                        \
	if (a->field != b->field)                             \
		return a->field < b->field ? -1 : 1

static int compare_profiles(const struct push_row *a, const struct push_row *b)
{
	COMPARE(segment);
	COMPARE(process);
	COMPARE(event);
	COMPARE(window);
	COMPARE(each);
	return 0;
}

static int compare_rows(const void *x, const void *y)
{
	const struct push_row *a = x, *b = y;
	int order = compare_profiles(a, b);

	if (order)
		return order;
	COMPARE(ustack);
	COMPARE(kstack);
	COMPARE(end);
	COMPARE(thread);
	COMPARE(state);
	return 0;
}

int push_rows_same_profile(const struct push_row *a, const struct push_row *b)
{
	return !compare_profiles(a, b);
}

int push_rows_take(struct push_rows *r, uint64_t until, struct push_rows *ready)
{
	struct push_rows all = *r;
	int err = 0;

	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < all.nr && !err; i++) {
		if (all.v[i].window >= until)
			err = push_rows_add(r, &all.v[i]);
		else if (array_push(&ready->v, &ready->nr, &ready->cap))
			ready->v[ready->nr - 1] = all.v[i];
		else
			err = -ENOMEM;
	}
	push_rows_release(&all);
	if (ready->nr)
		qsort(ready->v, ready->nr, sizeof(*ready->v), compare_rows);
	return err;
}
