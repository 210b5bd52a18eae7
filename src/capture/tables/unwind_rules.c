/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/unwind_rules.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/capture/tables/mapped_array.h"

/* Before the rule of a number is written. */
static int need_place(struct unwind_rules *r, uint32_t number)
{
	return mapped_array_need(r->array, number * sizeof(*r->v), sizeof(*r->v));
}

int unwind_rules_init(struct unwind_rules *r, struct mapped_array *array, uint32_t max)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->array = array;
	r->v = array->v;
	r->max = max;
	r->nr = 1;
	err = need_place(r, 0);
	if (err)
		return err;
	memset(&r->v[0], 0, sizeof(r->v[0]));
	r->refs = calloc(max, sizeof(*r->refs));
	return r->refs ? 0 : -ENOMEM;
}

void unwind_rules_release(struct unwind_rules *r)
{
	ix_release(&r->index);
	free(r->refs);
	free(r->free);
	memset(r, 0, sizeof(*r));
}

struct rule_key {
	const struct unwind_rules *r;
	const struct unwind_rule *rule;
};

static bool same_rule(const void *ctx, uint32_t number)
{
	const struct rule_key *k = ctx;

	return !memcmp(&k->r->v[number], k->rule, sizeof(*k->rule));
}

static uint64_t rule_hash(const struct unwind_rule *rule)
{
	return hash_bytes(5, rule, sizeof(*rule));
}

/* Takes a number that no rule has. */
static int take_number(struct unwind_rules *r, uint32_t *number)
{
	if (r->nr_free)
		*number = r->free[--r->nr_free];
	else if (r->nr == r->max)
		return -ENOSPC;
	else if (need_place(r, r->nr))
		return -ENOMEM;
	else
		*number = r->nr++;
	return 0;
}

int unwind_rules_get(struct unwind_rules *r, const struct unwind_rule *rule, uint16_t *number)
{
	struct rule_key k = { r, rule };
	uint64_t hash = rule_hash(rule);
	uint32_t id;
	int err;

	*number = 0;
	if (rule->cfa == CFA_NONE && !(rule->ra & RULE_RUNTIME))
		return 0;
	id = ix_find(&r->index, hash, same_rule, &k);
	if (id == IX_NONE) {
		/* Reserves room for giving it back, so that this cannot fail. */
		if (array_reserve(&r->free, &r->cap_free, (size_t)r->nr + 1))
			return -ENOMEM;
		err = take_number(r, &id);
		if (err)
			return err;
		r->v[id] = *rule;
		if (ix_add(&r->index, hash, id)) {
			r->free[r->nr_free++] = (uint16_t)id;
			return -ENOMEM;
		}
	}
	assert(id && id < r->nr && r->refs[id] < UINT32_MAX);
	r->refs[id]++;
	*number = (uint16_t)id;
	return 0;
}

void unwind_rules_put(struct unwind_rules *r, uint16_t number)
{
	assert(!number || (number < r->nr && r->refs[number]));
	if (!number || --r->refs[number])
		return;
	ix_remove(&r->index, rule_hash(&r->v[number]), number);
	r->free[r->nr_free++] = number;
}

size_t unwind_rules_used(const struct unwind_rules *r)
{
	return r->nr - r->nr_free;
}
