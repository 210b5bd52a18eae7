/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/record.h"

struct process_search {
	const struct push_process *v, *key;
};

static bool same_process(const void *ctx, uint32_t at)
{
	const struct process_search *s = ctx;
	const struct push_process *a = &s->v[at], *b = s->key;

	return a->segment == b->segment && a->tgid == b->tgid && a->comm == b->comm &&
	       a->exe == b->exe && a->cgroup == b->cgroup;
}

static int search(struct push_processes *ps, const struct push_process *key, uint32_t *id)
{
	const struct process_search s = { ps->v, key };
	uint64_t hash = hash_u64(hash_u64((uint64_t)key->segment << 32 | key->tgid, key->comm),
				 (uint64_t)key->exe << 32 | key->cgroup);
	uint32_t at = ix_find(&ps->index, hash, same_process, &s);
	struct push_process *new;

	*id = at == IX_NONE ? key->id : ps->v[at].id;
	if (at != IX_NONE)
		return 0;
	new = array_push(&ps->v, &ps->nr, &ps->cap);
	if (!new || ix_add(&ps->index, hash, (uint32_t)ps->nr - 1))
		return -ENOMEM;
	*new = *key;
	return 0;
}

int push_processes_find(struct push_processes *ps, uint32_t segment, const struct rec_process *p,
			uint32_t *id)
{
	const struct push_process key = { segment, p->id, p->tgid, p->comm, p->exe, p->cgroup };
	int err;

	if (segment != ps->segment && ps->cap_first)
		memset(ps->first, 0, ps->cap_first * sizeof(*ps->first));
	ps->segment = segment;
	if (array_reserve(&ps->first, &ps->cap_first, (size_t)p->id + 1))
		return -ENOMEM;
	*id = ps->first[p->id];
	if (*id)
		return 0;
	err = search(ps, &key, id);
	ps->first[p->id] = *id;
	return err;
}

void push_processes_release(struct push_processes *ps)
{
	free(ps->v);
	free(ps->first);
	ix_release(&ps->index);
	memset(ps, 0, sizeof(*ps));
}
