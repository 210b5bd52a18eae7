/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_code.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

struct piece_key {
	const struct jit_code *c;
	uint64_t addr;
};

static bool same_piece(const void *ctx, uint32_t id)
{
	const struct piece_key *k = ctx;

	return k->c->v[id].addr == k->addr;
}

static struct jit_piece *find(const struct jit_code *c, uint64_t addr)
{
	const struct piece_key k = { c, addr };
	uint32_t id = ix_find(&c->index, hash_u64(0, addr), same_piece, &k);

	return id == IX_NONE ? NULL : &c->v[id];
}

/* That which the function had before, or a new one. */
static uint32_t generation_of(const struct jit_piece *p, uint64_t name_hash)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->spans[i].name_hash == name_hash)
			return p->spans[i].generation;
	return p->nr_names;
}

/* false: there are too many, or out of memory. */
static bool put_span(struct jit_piece *p, uint64_t since_ns, uint64_t name_hash)
{
	uint32_t generation = generation_of(p, name_hash);
	struct jit_span *s = generation <= JIT_CODE_GENERATIONS && p->nr < JIT_CODE_SPANS
				     ? array_push(&p->spans, &p->nr, &p->cap)
				     : NULL;

	if (!s)
		return false;
	*s = (struct jit_span){ since_ns, name_hash, generation };
	p->nr_names += generation == p->nr_names;
	return true;
}

/* Without memory the address is not watched. */
static void add(struct jit_code *c, uint64_t addr, uint64_t since_ns, uint64_t name_hash)
{
	struct jit_piece *p =
		c->nr < JIT_CODE_MAX ? array_push(&c->v, &c->nr, &c->cap) : NULL;

	if (!p)
		return;
	*p = (struct jit_piece){ .addr = addr };
	if (!put_span(p, since_ns, name_hash) ||
	    ix_add(&c->index, hash_u64(0, addr), (uint32_t)c->nr - 1)) {
		free(p->spans);
		c->nr--;
	}
}

void jit_code_release(struct jit_code *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->v[i].spans);
	free(c->v);
	ix_release(&c->index);
}

bool jit_code_put(struct jit_code *c, uint64_t addr, const char *name, uint64_t since_ns)
{
	uint64_t name_hash = hash_bytes(0, name, strlen(name));
	struct jit_piece *p = find(c, addr);
	const struct jit_span *last = p ? &p->spans[p->nr - 1] : NULL;

	assert(!p || p->nr);		/* add() gives a piece its first span */
	if (!p)
		add(c, addr, since_ns, name_hash);
	if (!p || last->name_hash == name_hash || last->since_ns >= since_ns)
		return false;
	return put_span(p, since_ns, name_hash);
}

uint32_t jit_code_generation(const struct jit_code *c, uint64_t addr, uint64_t time_ns)
{
	const struct jit_piece *p = find(c, addr);
	size_t i = p ? p->nr - 1 : 0;

	while (i && p->spans[i].since_ns > time_ns)
		i--;
	return p ? p->spans[i].generation : 0;
}
