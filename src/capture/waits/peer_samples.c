/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/waits/peer_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/capture/waits/wait_peers.h"

int peer_samples_add(struct peer_samples *p, const struct peer_row *row)
{
	struct peer_row *place = array_push(&p->v, &p->nr, &p->cap);

	if (!place)
		return -ENOMEM;
	*place = *row;
	p->nr_new += !row->same && row->key.end;
	return 0;
}

void peer_samples_clear(struct peer_samples *p)
{
	p->nr = p->nr_new = 0;
}

void peer_samples_release(struct peer_samples *p)
{
	free(p->v);
	free(p->questions);
	memset(p, 0, sizeof(*p));
}

bool peer_is_settled(const struct rec_sample *sample)
{
	return sample->holders == 2;
}

static bool is_asked(const struct peer_row *row)
{
	return row->key.end && (!row->same || !peer_is_settled(&row->sample));
}

static void take(struct rec_sample *s, const struct peer_question *q)
{
	s->holders = q->holders < UINT32_MAX - 1 ? q->holders + 1 : 0;
	s->owner = s->holders == 2 ? q->tgid : 0;
}

int peer_samples_ask(struct peer_samples *p, find_peers_fn find, void *ctx)
{
	size_t nr = 0;

	if (!p->nr_new || !find)
		return 0;
	if (array_reserve(&p->questions, &p->cap_questions, p->nr))
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++)
		if (is_asked(&p->v[i]))
			p->questions[nr++] = (struct peer_question){ .key = p->v[i].key };
	if (!nr || find(ctx, p->questions, nr))
		return 0;
	nr = 0;
	for (size_t i = 0; i < p->nr; i++)
		if (is_asked(&p->v[i]))
			take(&p->v[i].sample, &p->questions[nr++]);
	return 0;
}
