/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/answer_deadlock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/report/report_sample.h"
#include "src/waits/wait_graph.h"

#define SHOWN 3				/* threads that are named */

struct link_match {
	const struct answer_link *v;
	uint64_t thread;
};

static bool is_of(const void *ctx, uint32_t id)
{
	const struct link_match *m = ctx;

	return m->v[id].thread == m->thread;
}

static uint32_t find_link(const struct answer_deadlock *a, uint64_t thread)
{
	const struct link_match m = { a->v, thread };

	return ix_find(&a->index, hash_u64(1, thread), is_of, &m);
}

int answer_deadlock_sample(struct answer_deadlock *a, const struct report_sample *s)
{
	const struct rec_sample *rec = s->rec;
	uint32_t owner = rec->wait_kind == WAIT_UNKNOWN ? rec->owner : 0, at;
	struct answer_link *l;
	uint64_t thread;

	if (!s->thread || (!owner && !a->nr))
		return 0;
	thread = (uint64_t)s->segment << 32 | s->thread->tid;
	at = find_link(a, thread);
	if (at != IX_NONE)
		a->v[at].owner = owner;
	if (at != IX_NONE || !owner || a->nr >= ANSWER_LINKS)
		return 0;
	l = array_push(&a->v, &a->nr, &a->cap);
	if (!l || ix_add(&a->index, hash_u64(1, thread), (uint32_t)a->nr - 1))
		return -ENOMEM;
	*l = (struct answer_link){ thread, owner, 0 };
	return 0;
}

/* Whether the way from one thread to the owner of its lock, and so on, comes by a thread twice. */
static bool leads_to_ring(struct answer_deadlock *a, uint32_t at, uint32_t search)
{
	while (at != IX_NONE && !a->v[at].visited) {
		a->v[at].visited = search;
		at = a->v[at].owner ? find_link(a, (a->v[at].thread >> 32 << 32) | a->v[at].owner)
				    : IX_NONE;
	}
	return at != IX_NONE && a->v[at].visited == search;
}

static bool has_ring(struct answer_deadlock *a)
{
	bool found = false;

	for (uint32_t i = 0; i < a->nr; i++)
		a->v[i].visited = 0;
	for (uint32_t i = 0; i < a->nr && !found; i++)
		found = leads_to_ring(a, i, i + 1);
	return found;
}

static void put_ring(const struct wait_graph *g, const struct wait_ring *ring, FILE *out)
{
	uint32_t at = ring->first;

	if (ring->nr == 1)
		fputs("1 thread waits for itself", out);
	else
		fprintf(out, "%u threads wait for each other", ring->nr);
	for (uint32_t i = 0; i < ring->nr && i < SHOWN; i++, at = g->rows[at].owner) {
		const struct rec_thread *t =
			definition_store_find_thread(g->tables, g->rows[at].rec.thread);
		const char *comm = definition_store_string(g->tables, t ? t->comm : UINT32_MAX,
							   NULL);

		fprintf(out, "%s%s %u", i ? ", " : ": ", *comm ? comm : "[no name]",
			g->rows[at].tid);
	}
	if (ring->nr > SHOWN)
		fputs(", ...", out);
}

/* The text of the first ring that is certain, and how many more there are. */
static int write_text(struct answer_deadlock *a, const struct wait_graph *g)
{
	const struct wait_ring *first = NULL;
	uint32_t nr = 0;
	size_t len;
	FILE *out;

	for (size_t i = 0; i < g->nr_rings; i++) {
		if (!wait_ring_is_sure(&g->rings[i]) || !g->rows[g->rings[i].first].shown)
			continue;
		first = first ? first : &g->rings[i];
		nr++;
	}
	if (!first)
		return 0;
	out = open_memstream(&a->text, &len);
	if (!out)
		return -ENOMEM;
	put_ring(g, first, out);
	if (nr > 1)
		fprintf(out, "; %u more", nr - 1);
	return fclose(out) ? -ENOMEM : 0;
}

int answer_deadlock_find(struct answer_deadlock *a, struct report *rep)
{
	struct wait_graph g;
	int err;

	free(a->text);
	a->text = NULL;
	if (!has_ring(a))
		return 0;
	err = wait_graph_read(rep, 0, &g);
	if (!err && g.scan)
		err = wait_graph_link(&g);
	if (!err && g.scan)
		err = write_text(a, &g);
	wait_graph_release(&g);
	return err;
}

void answer_deadlock_release(struct answer_deadlock *a)
{
	free(a->text);
	free(a->v);
	ix_release(&a->index);
}
