/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/profile/profile_delta.h"
#include "src/report/stack_health.h"

void profile_free(struct profile *p)
{
	if (!p)
		return;
	if (p->health)
		stack_health_release(p->health);
	free(p->health);
	profile_delta_free(p->deltas);
	free(p->levels);
	free(p->nodes);
	intern_free(p->names);
	free(p);
}

#define NODE_TIERS \
	(NODE_INTERPRETED | NODE_BASELINE | NODE_OPTIMIZED | NODE_COMPILED | NODE_BUILTIN)

bool node_is_interpreted(const struct node *n)
{
	return n->kind == FRAME_JIT && (n->flags & NODE_TIERS) == NODE_INTERPRETED;
}

const char *node_kind_name(const struct node *n)
{
	return frame_kind_name(n->kind, node_is_interpreted(n) ? TIER_INTERPRETED : TIER_NONE);
}

size_t node_tiers(const struct node *n, const char *v[NODE_MAX_TIERS])
{
	static const struct {
		uint8_t flag;
		const char *name;
	} tiers[NODE_MAX_TIERS] = {
		{ NODE_INTERPRETED, "interpreted" }, { NODE_BASELINE, "baseline" },
		{ NODE_OPTIMIZED, "optimized" },     { NODE_COMPILED, "compiled" },
		{ NODE_BUILTIN, "builtin" },
	};
	size_t nr = 0;

	for (size_t i = 0; i < NODE_MAX_TIERS; i++)
		if (n->flags & tiers[i].flag)
			v[nr++] = tiers[i].name;
	return nr;
}

const char *profile_name(const struct profile *p, uint32_t name)
{
	return intern_get(p->names, name, NULL);
}

static int by_name(const void *a, const void *b, void *names)
{
	size_t len_a, len_b;
	const char *s = intern_get(names, *(const uint32_t *)a, &len_a);
	const char *t = intern_get(names, *(const uint32_t *)b, &len_b);
	int order = memcmp(s, t, len_a < len_b ? len_a : len_b);

	return order ? order : (len_a > len_b) - (len_a < len_b);
}

uint32_t *profile_rank_names(const struct profile *p)
{
	uint32_t nr = intern_count(p->names);
	uint32_t *order = malloc(nr * sizeof(*order)), *rank = malloc(nr * sizeof(*rank));

	if (order && rank) {
		for (uint32_t i = 0; i < nr; i++)
			order[i] = i;
		qsort_r(order, nr, sizeof(*order), by_name, p->names);
		for (uint32_t i = 0; i < nr; i++)
			rank[order[i]] = i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(order);
	return rank;
}
