/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_code.h"

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

/* Without memory the address is not watched. */
static void add(struct jit_code *c, uint64_t addr, uint64_t name_hash)
{
	struct jit_piece *p =
		c->nr < JIT_CODE_MAX ? array_push(&c->v, &c->nr, &c->cap) : NULL;

	if (!p)
		return;
	*p = (struct jit_piece){ .addr = addr, .name_hash = name_hash };
	if (ix_add(&c->index, hash_u64(0, addr), (uint32_t)c->nr - 1))
		c->nr--;
}

void jit_code_release(struct jit_code *c)
{
	free(c->v);
	ix_release(&c->index);
}

bool jit_code_put(struct jit_code *c, uint64_t addr, const char *name)
{
	uint64_t name_hash = hash_bytes(0, name, strlen(name));
	struct jit_piece *p = find(c, addr);

	if (!p)
		add(c, addr, name_hash);
	if (!p || p->name_hash == name_hash || p->generation == JIT_CODE_GENERATIONS)
		return false;
	p->name_hash = name_hash;
	p->generation++;
	return true;
}

uint32_t jit_code_generation(const struct jit_code *c, uint64_t addr)
{
	const struct jit_piece *p = find(c, addr);

	return p ? p->generation : 0;
}
