/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/lines_costs.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/base/clock.h"

#define OWNERS 16			/* whose costs are told apart; further ones count as one */
/* Enough for the largest programs, and no more than a busy thread for a minute. */
#define OWNER_LINES_NS (60 * NSEC_PER_SEC)
#define OWNER_SHARE 20			/* and 1/20 of the time that has passed since */

struct lines_cost {
	uint32_t owner;
	uint64_t ns;
	uint64_t since_ns;		/* when its first file was asked about */
};

struct lines_costs {
	struct lines_cost v[OWNERS];
	unsigned nr;
	pthread_mutex_t lock;
};

struct lines_costs *lines_costs_new(void)
{
	struct lines_costs *c = calloc(1, sizeof(*c));

	if (c)
		pthread_mutex_init(&c->lock, NULL);
	return c;
}

void lines_costs_free(struct lines_costs *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Where it is kept what the lines of an owner's files have cost; under the lock. */
static struct lines_cost *cost_of(struct lines_costs *c, uint32_t owner)
{
	assert(c->nr <= OWNERS);
	for (unsigned i = 0; i < c->nr; i++)
		if (c->v[i].owner == owner)
			return &c->v[i];
	if (c->nr == OWNERS)
		return &c->v[OWNERS - 1];
	c->v[c->nr] = (struct lines_cost){ .owner = owner, .since_ns = now_ns() };
	return &c->v[c->nr++];
}

bool lines_costs_may(struct lines_costs *c, uint32_t owner)
{
	const struct lines_cost *cost;
	bool may;

	pthread_mutex_lock(&c->lock);
	cost = cost_of(c, owner);
	may = cost->ns < OWNER_LINES_NS + (now_ns() - cost->since_ns) / OWNER_SHARE;
	pthread_mutex_unlock(&c->lock);
	return may;
}

void lines_costs_add(struct lines_costs *c, uint32_t owner, uint64_t ns)
{
	pthread_mutex_lock(&c->lock);
	cost_of(c, owner)->ns += ns;
	pthread_mutex_unlock(&c->lock);
}
