/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"

#define BLOCK_BYTES (64 * 1024)

struct str {
	const char *s;
	uint32_t len;
};

struct intern {
	struct str *v;
	size_t nr, cap;
	struct hash_index index;
	char **blocks;			/* string bytes never move */
	size_t nr_blocks, cap_blocks;
	char *next;			/* where the next string goes in the last block */
	size_t room;			/* bytes left there */
	size_t block_bytes;		/* of all blocks */
};

struct key {
	const struct intern *in;
	const void *data;
	size_t len;
};

static bool same(const void *ctx, uint32_t id)
{
	const struct key *k = ctx;
	const struct str *s = &k->in->v[id];

	return s->len == k->len && !memcmp(s->s, k->data, k->len);
}

static char *store(struct intern *in, const void *data, size_t len)
{
	size_t need = len + 1;
	char **last;
	char *p;

	if (!in->nr_blocks || need > in->room) {
		size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
		char *block = malloc(size);

		last = block ? array_push(&in->blocks, &in->nr_blocks, &in->cap_blocks) : NULL;
		if (!last) {
			free(block);
			return NULL;
		}
		*last = block;
		in->room = size;
		in->block_bytes += size;
		in->next = block;
	}
	assert(need <= in->room);
	p = in->next;
	memcpy(p, data, len);
	p[len] = 0;
	in->next += need;
	in->room -= need;
	return p;
}

struct intern *intern_new(void)
{
	struct intern *in = calloc(1, sizeof(*in));

	if (in && intern_bytes(in, "", 0) != 0) {
		intern_free(in);
		in = NULL;
	}
	return in;
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->nr_blocks; i++)
		free(in->blocks[i]);
	free(in->blocks);
	free(in->v);
	ix_release(&in->index);
	free(in);
}

uint32_t intern_bytes(struct intern *in, const void *data, size_t len)
{
	struct key k = { in, data, len };
	uint64_t hash = hash_bytes(0, data, len);
	uint32_t id = ix_find(&in->index, hash, same, &k);
	char *p;

	if (id != IX_NONE)
		return id;
	if (len >= UINT32_MAX || array_reserve(&in->v, &in->cap, in->nr + 1))
		return IX_NONE;
	p = store(in, data, len);
	if (!p || ix_add(&in->index, hash, (uint32_t)in->nr))
		return IX_NONE;
	in->v[in->nr] = (struct str){ p, (uint32_t)len };
	return (uint32_t)in->nr++;
}

uint32_t intern_str(struct intern *in, const char *s)
{
	return intern_bytes(in, s ? s : "", s ? strlen(s) : 0);
}

size_t intern_memory(const struct intern *in)
{
	return in->block_bytes + in->cap * sizeof(*in->v) + ix_memory(&in->index);
}

uint32_t intern_count(const struct intern *in)
{
	return (uint32_t)in->nr;
}

const char *intern_get(const struct intern *in, uint32_t id, size_t *len)
{
	const struct str *s = &in->v[id < in->nr ? id : 0];

	if (len)
		*len = s->len;
	return s->s;
}
