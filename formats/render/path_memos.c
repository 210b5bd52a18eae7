/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/path_memos.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

#define MAX_BYTES (1u << 20)

struct memo_search {
	const struct path_memo *v;
	const struct path_key *key;
};

static bool same_path(const void *ctx, uint32_t id)
{
	const struct memo_search *s = ctx;
	const struct path_key *a = &s->v[id].key, *b = s->key;

	return a->ustack == b->ustack && a->kstack == b->kstack && a->end == b->end;
}

static uint64_t hash_of(const struct path_key *key)
{
	return hash_u64(key->end, (uint64_t)key->kstack << 32 | key->ustack);
}

bool path_memos_find(const struct path_memos *m, const struct path_key *key, struct byte_buf *out)
{
	const struct memo_search s = { m->v, key };
	uint32_t id = ix_find(&m->index, hash_of(key), same_path, &s);

	if (id == IX_NONE)
		return false;
	bb_bytes(out, m->bytes.v + m->v[id].at, m->v[id].len);
	return true;
}

/* A memo that cannot be kept costs only time. */
void path_memos_add(struct path_memos *m, const struct path_key *key, const struct byte_buf *made)
{
	struct path_memo *memo = NULL;

	if (made->bad || m->bytes.bad || m->bytes.nr + made->nr > MAX_BYTES)
		return;
	memo = array_push(&m->v, &m->nr, &m->cap);
	if (!memo)
		return;
	*memo = (struct path_memo){ *key, (uint32_t)m->bytes.nr, (uint32_t)made->nr };
	bb_bytes(&m->bytes, made->v, made->nr);
	if (m->bytes.bad || ix_add(&m->index, hash_of(key), (uint32_t)m->nr - 1))
		m->nr--;
}

void path_memos_release(struct path_memos *m)
{
	free(m->v);
	ix_release(&m->index);
	bb_release(&m->bytes);
	memset(m, 0, sizeof(*m));
}
