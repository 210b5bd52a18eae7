/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/table_turns.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"

#define OWNERS 64			/* that are told apart; further ones count as one */
#define AT_ONCE 8
#define AT_ONCE_OF_ROOT 64
#define MANY 512			/* of one owner that wait */
/* An owner's tables have cost much: more than this, and a tenth of the time that has passed. */
#define MUCH_NS (2 * NSEC_PER_SEC)
#define SHARE 10

struct owner {
	uint32_t owner;
	unsigned nr_at_once;
	uint64_t cost_ns, paid_ns;	/* the cost as of that time */
};

struct table_turns {
	struct table_turn *v;		/* in the order in which they came */
	size_t nr, cap;
	struct owner owners[OWNERS];
	unsigned nr_owners;
};

struct table_turns *table_turns_new(void)
{
	return calloc(1, sizeof(struct table_turns));
}

void table_turns_free(struct table_turns *q)
{
	if (!q)
		return;
	free(q->v);
	free(q);
}

/* An owner of whom nothing is known any more gives his place to another one. */
static struct owner *owner_of(struct table_turns *q, uint32_t owner)
{
	struct owner *unused = NULL;

	for (unsigned i = 0; i < q->nr_owners; i++) {
		struct owner *o = &q->owners[i];

		if (o->owner == owner)
			return o;
		if (!o->nr_at_once && !o->cost_ns)
			unused = o;
	}
	if (!unused && q->nr_owners < OWNERS)
		unused = &q->owners[q->nr_owners++];
	if (!unused)
		return &q->owners[OWNERS - 1];
	*unused = (struct owner){ .owner = owner };
	return unused;
}

static unsigned limit_of(const struct owner *o)
{
	if (!o->owner)
		return AT_ONCE_OF_ROOT;
	return o->cost_ns > MUCH_NS ? 1 : AT_ONCE;
}

struct nr_of_owner {
	uint32_t owner;
	size_t nr;
};

/* How many tables of each owner wait; further owners count as one. Returns the number of owners. */
static unsigned count_waiting(const struct table_turns *q, struct nr_of_owner v[OWNERS])
{
	unsigned nr = 0, k;

	for (size_t i = 0; i < q->nr; i++) {
		for (k = 0; k < nr && v[k].owner != q->v[i].owner; k++)
			;
		if (k == OWNERS)
			k--;
		else if (k == nr)
			v[nr++] = (struct nr_of_owner){ .owner = q->v[i].owner };
		v[k].nr++;
	}
	return nr;
}

static size_t waiting_of(const struct nr_of_owner *v, unsigned nr, uint32_t owner)
{
	for (unsigned i = 0; i < nr; i++)
		if (v[i].owner == owner)
			return v[i].nr;
	return 0;
}

static bool has_cost_much(const struct table_turns *q, uint32_t owner)
{
	for (unsigned i = 0; i < q->nr_owners; i++)
		if (q->owners[i].owner == owner)
			return limit_of(&q->owners[i]) == 1;
	return false;
}

bool table_turns_have_few(const struct table_turns *q)
{
	struct nr_of_owner v[OWNERS];
	unsigned nr = count_waiting(q, v);
	bool few = false;

	for (unsigned i = 0; i < nr; i++)
		few |= !v[i].owner || (v[i].nr < MANY && !has_cost_much(q, v[i].owner));
	for (unsigned i = 0; i < q->nr_owners; i++) {
		const struct owner *o = &q->owners[i];

		few |= o->nr_at_once && limit_of(o) > 1 && waiting_of(v, nr, o->owner) < MANY;
	}
	return few;
}

int table_turns_add(struct table_turns *q, const struct table_turn *turn)
{
	struct table_turn *slot = array_push(&q->v, &q->nr, &q->cap);

	if (!slot)
		return -ENOMEM;
	*slot = *turn;
	return 0;
}

void table_turns_hurry(struct table_turns *q, uint32_t binary, int priority)
{
	for (size_t i = 0; i < q->nr; i++)
		if (q->v[i].binary == binary && q->v[i].priority > priority)
			q->v[i].priority = priority;
}

static void take(struct table_turns *q, size_t i, struct table_turn *out)
{
	assert(i < q->nr);
	*out = q->v[i];
	memmove(&q->v[i], &q->v[i + 1], (q->nr - i - 1) * sizeof(*q->v));
	q->nr--;
}

bool table_turns_next(struct table_turns *q, struct table_turn *out)
{
	size_t best = q->nr;

	for (size_t i = 0; i < q->nr; i++) {
		const struct owner *o = owner_of(q, q->v[i].owner);

		if (o->nr_at_once < limit_of(o) &&
		    (best == q->nr || q->v[i].priority < q->v[best].priority))
			best = i;
	}
	if (best == q->nr)
		return false;
	take(q, best, out);
	return true;
}

bool table_turns_drop(struct table_turns *q, struct table_turn *out)
{
	if (!q->nr)
		return false;
	take(q, q->nr - 1, out);
	return true;
}

unsigned table_turns_begin(struct table_turns *q, uint32_t owner)
{
	struct owner *o = owner_of(q, owner);

	o->nr_at_once++;
	return (unsigned)(o - q->owners);
}

void table_turns_over(struct table_turns *q, unsigned begun, uint64_t took_ns, uint64_t now_ns)
{
	struct owner *o = &q->owners[begun];
	uint64_t paid = (now_ns - o->paid_ns) / SHARE;

	assert(begun < q->nr_owners && o->nr_at_once);
	o->nr_at_once--;
	o->cost_ns = (o->cost_ns > paid ? o->cost_ns - paid : 0) + took_ns;
	o->paid_ns = now_ns;
}
