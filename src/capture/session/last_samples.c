/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/last_samples.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"

struct last_samples {
	struct last_row *v;
	size_t nr, cap;
	struct hash_index by_tid;
};

struct last_samples *last_samples_new(void)
{
	return calloc(1, sizeof(struct last_samples));
}

void last_samples_free(struct last_samples *l)
{
	if (!l)
		return;
	free(l->v);
	ix_release(&l->by_tid);
	free(l);
}

void last_samples_forget(struct last_samples *l)
{
	free(l->v);
	l->v = NULL;
	l->nr = l->cap = 0;
	ix_release(&l->by_tid);
}

struct key {
	const struct last_samples *l;
	const struct wire_sample *head;
};

static bool same_thread(const void *ctx, uint32_t i)
{
	const struct key *k = ctx;
	const struct last_row *r = &k->l->v[i];

	return r->tid == k->head->tid && r->start_boottime_ns == k->head->start_boottime_ns;
}

static uint64_t hash_of(uint32_t tid, uint64_t start_boottime_ns)
{
	return hash_u64(tid, start_boottime_ns);
}

struct last_row *last_samples_find(const struct last_samples *l, const struct wire_sample *head)
{
	struct key k = { l, head };
	uint32_t i =
		ix_find(&l->by_tid, hash_of(head->tid, head->start_boottime_ns), same_thread, &k);

	assert(i == IX_NONE || i < l->nr);
	return i == IX_NONE ? NULL : &l->v[i];
}

int last_samples_put(struct last_samples *l, const struct wire_sample *head,
		     const struct rec_sample *sample, const struct peer_key *peer)
{
	struct last_row *r = last_samples_find(l, head);

	if (!r) {
		r = array_push(&l->v, &l->nr, &l->cap);
		if (!r)
			return -ENOMEM;
		if (ix_add(&l->by_tid, hash_of(head->tid, head->start_boottime_ns),
			   (uint32_t)l->nr - 1)) {
			l->nr--;
			return -ENOMEM;
		}
		r->tid = head->tid;
		r->start_boottime_ns = head->start_boottime_ns;
	}
	memcpy(r->comm, head->comm, sizeof(r->comm));
	r->sample = *sample;
	r->peer = peer ? *peer : (struct peer_key){ 0 };
	return 0;
}

int last_samples_prune(struct last_samples *l, uint32_t scan)
{
	size_t keep = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].sample.scan >= scan)
			l->v[keep++] = l->v[i];
	if (keep == l->nr)
		return 0;
	l->nr = keep;
	ix_release(&l->by_tid);
	for (size_t i = 0; i < keep; i++)
		if (ix_add(&l->by_tid, hash_of(l->v[i].tid, l->v[i].start_boottime_ns),
			   (uint32_t)i))
			return -ENOMEM;
	return 0;
}

size_t last_samples_nr(const struct last_samples *l)
{
	return l->nr;
}
