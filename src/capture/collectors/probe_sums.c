/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/probe_sums.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/knobs.h"
#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/hash_index.h"
#include "src/capture/stacks/stack_ids.h"

struct seen {
	uint64_t id, weight;		/* weight: of the sum, when it was last read */
};

struct probe_sums {
	int map;
	struct stack_ids *stacks;
	struct seen *v;
	size_t nr, cap;
	struct hash_index index;	/* of v, by id */
	struct byte_buf scratch;	/* the record that is handed out */
};

int probe_sums_new(int map, struct probe_sums **sp)
{
	struct probe_sums *s = calloc(1, sizeof(*s));
	int err = s ? stack_ids_new(&s->stacks) : -ENOMEM;

	if (err) {
		probe_sums_free(s);
		return err;
	}
	s->map = map;
	*sp = s;
	return 0;
}

void probe_sums_free(struct probe_sums *s)
{
	if (!s)
		return;
	stack_ids_free(s->stacks);
	ix_release(&s->index);
	bb_release(&s->scratch);
	free(s->v);
	free(s);
}

/* Copies a record, so that its head can be written to. NULL: there is no memory. */
static struct wire_sample *copy(struct probe_sums *s, const void *record, size_t len)
{
	s->scratch.nr = 0;
	bb_bytes(&s->scratch, record, len);
	return s->scratch.bad ? NULL : (struct wire_sample *)s->scratch.v;
}

int probe_sums_keep(struct probe_sums *s, const void *record, size_t len, struct wire_stack *stack)
{
	size_t nr = stack->head->nr_kernel;
	uint64_t id = nr ? stack->kernel[nr - 1] : 0;
	struct wire_sample *head;

	if (!WIRE_IS_SUM_ID(id))
		return 0;
	if (stack->dump || stack->delta || len < sizeof(*head) + sizeof(id))
		return -EBADMSG;
	head = copy(s, record, len - sizeof(id));
	if (!head)
		return -ENOMEM;
	head->nr_kernel--;
	if (wire_decode(head, len - sizeof(id), stack) <= 0)
		return -EBADMSG;
	return stack_ids_put(s->stacks, id, head, len - sizeof(id));
}

struct seen_key {
	const struct probe_sums *s;
	uint64_t id;
};

static bool same_id(const void *ctx, uint32_t at)
{
	const struct seen_key *k = ctx;

	return k->s->v[at].id == k->id;
}

static struct seen *seen_of(struct probe_sums *s, uint64_t id)
{
	struct seen_key k = { s, id };
	uint32_t at = ix_find(&s->index, id, same_id, &k);
	struct seen *place;

	if (at != IX_NONE)
		return &s->v[at];
	place = array_push(&s->v, &s->nr, &s->cap);
	if (!place)
		return NULL;
	*place = (struct seen){ .id = id };
	if (ix_add(&s->index, id, (uint32_t)s->nr - 1)) {
		s->nr--;
		return NULL;
	}
	return place;
}

static int give(struct probe_sums *s, uint64_t id, const struct probe_sum *sum, wire_stack_fn fn,
		void *ctx)
{
	struct seen *seen = seen_of(s, id);
	struct wire_sample *head;
	struct wire_stack stack;
	const void *record;
	size_t len;

	if (!seen)
		return -ENOMEM;
	if (sum->weight == seen->weight)
		return 0;
	record = stack_ids_find(s->stacks, id, &len);
	if (!record)
		return 0;		/* it has not come yet */
	head = copy(s, record, len);
	if (!head)
		return -ENOMEM;
	head->weight = sum->weight - seen->weight;
	head->time_ns = sum->last_ns;
	seen->weight = sum->weight;
	return wire_decode(head, len, &stack) > 0 ? fn(ctx, &stack) : 0;
}

int probe_sums_take(struct probe_sums *s, wire_stack_fn fn, void *ctx)
{
	uint64_t id, *last = NULL;
	struct probe_sum sum;
	int err = 0;

	while (!err && !bpf_map_get_next_key(s->map, last, &id)) {
		last = &id;
		if (!bpf_map_lookup_elem(s->map, &id, &sum))
			err = give(s, id, &sum, fn, ctx);
	}
	return err;
}
