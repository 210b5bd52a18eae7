/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/stack_ids.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"

#define SINGLE_BYTES (16u << 20)

struct entry {
	uint64_t id;
	uint8_t *record;		/* NULL: the entry is free */
	size_t len;
	uint32_t next;			/* free: the next free one; single: the next younger one */
	uint32_t before;		/* single: the next older one */
};

struct stack_ids {
	struct entry *v;
	size_t nr, cap;
	struct hash_index index;
	uint32_t free;			/* first free entry; IX_NONE: there is none */
	uint32_t oldest, youngest;	/* single ones, in the order in which they came */
	size_t bytes, single_bytes;
	void *given;			/* the record of a single id, until the next call */
};

int stack_ids_new(struct stack_ids **sp)
{
	struct stack_ids *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->free = s->oldest = s->youngest = IX_NONE;
	*sp = s;
	return 0;
}

void stack_ids_free(struct stack_ids *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++)
		free(s->v[i].record);
	free(s->given);
	free(s->v);
	ix_release(&s->index);
	free(s);
}

struct wanted {
	const struct stack_ids *ids;
	uint64_t id;
};

static bool has_id(const void *ctx, uint32_t i)
{
	const struct wanted *w = ctx;

	return w->ids->v[i].id == w->id;
}

static uint32_t find(const struct stack_ids *s, uint64_t id)
{
	struct wanted w = { s, id };

	return ix_find(&s->index, hash_u64(0, id), has_id, &w);
}

static struct entry *new_entry(struct stack_ids *s, uint32_t *i)
{
	struct entry *e;

	if (s->free != IX_NONE) {
		assert(s->free < s->nr && !s->v[s->free].record);
		*i = s->free;
		s->free = s->v[*i].next;
		return &s->v[*i];
	}
	*i = (uint32_t)s->nr;
	e = array_push(&s->v, &s->nr, &s->cap);
	return e;
}

/* Takes the record out of the entry, which is free then. The caller frees the record. */
static void *take_out(struct stack_ids *s, uint32_t i)
{
	struct entry *e = &s->v[i];
	void *record = e->record;

	ix_remove(&s->index, hash_u64(0, e->id), i);
	assert(e->record && s->bytes >= e->len);
	s->bytes -= e->len;
	e->record = NULL;
	e->next = s->free;
	s->free = i;
	return record;
}

static bool is_single(uint64_t id)
{
	return id & STACK_IDS_SINGLE;
}

static void unlink_single(struct stack_ids *s, uint32_t i)
{
	struct entry *e = &s->v[i];

	*(e->before == IX_NONE ? &s->oldest : &s->v[e->before].next) = e->next;
	*(e->next == IX_NONE ? &s->youngest : &s->v[e->next].before) = e->before;
	assert(s->single_bytes >= e->len);
	s->single_bytes -= e->len;
}

static void link_single(struct stack_ids *s, uint32_t i)
{
	s->v[i].next = IX_NONE;
	s->v[i].before = s->youngest;
	*(s->youngest == IX_NONE ? &s->oldest : &s->v[s->youngest].next) = i;
	s->youngest = i;
	s->single_bytes += s->v[i].len;
	while (s->single_bytes > SINGLE_BYTES && s->oldest != i) {
		uint32_t oldest = s->oldest;

		unlink_single(s, oldest);
		free(take_out(s, oldest));
	}
}

int stack_ids_put(struct stack_ids *s, uint64_t id, const void *record, size_t len)
{
	uint32_t i = find(s, id);
	uint8_t *copy;
	struct entry *e;

	if (i != IX_NONE)
		return 0;	/* two CPUs met it for the first time */
	copy = malloc(len);
	e = copy ? new_entry(s, &i) : NULL;
	if (!e) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, record, len);
	*e = (struct entry){ .id = id, .record = copy, .len = len };
	s->bytes += len;
	if (ix_add(&s->index, hash_u64(0, id), i)) {
		free(take_out(s, i));
		return -ENOMEM;
	}
	if (is_single(id))
		link_single(s, i);
	return 0;
}

const void *stack_ids_find(struct stack_ids *s, uint64_t id, size_t *len)
{
	uint32_t i = find(s, id);

	if (i == IX_NONE)
		return NULL;
	*len = s->v[i].len;
	if (!is_single(id))
		return s->v[i].record;
	unlink_single(s, i);
	free(s->given);
	s->given = take_out(s, i);
	return s->given;
}

size_t stack_ids_bytes(const struct stack_ids *s)
{
	return s->bytes;
}
