/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/met_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/process.h"
#include "src/model/record.h"
#include "src/proc/procfs.h"

#define FORGET_FROM 4096		/* fewer threads are not worth a look */

struct met_process {
	uint64_t serial;
	bool is_met;
};

void met_tasks_release(struct met_tasks *m)
{
	per_process_release(&m->processes);
	free(m->threads);
	ix_release(&m->index);
	memset(m, 0, sizeof(*m));
}

bool met_tasks_process(struct met_tasks *m, const struct process *p)
{
	struct met_process *met;

	m->processes.size = sizeof(*met);
	met = per_process_at(&m->processes, p);
	if (!met || met->is_met)
		return false;
	met->is_met = true;
	m->nr_processes++;
	return true;
}

static bool is_met(const void *ctx, uint32_t i)
{
	const struct met_thread *const *pair = ctx;

	return pair[0][i].identity == pair[1]->identity;
}

static void forget_ended(struct met_tasks *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->nr; i++)
		if (!procfs_thread_is_gone(m->threads[i].tid))
			m->threads[kept++] = m->threads[i];
	m->nr = kept;
	m->forget_at = 2 * kept + FORGET_FROM;
	ix_release(&m->index);
	for (size_t i = 0; i < kept; i++)
		if (ix_add(&m->index, m->threads[i].identity, (uint32_t)i))
			return;		/* the others count twice, if they are met again */
}

void met_tasks_thread(struct met_tasks *m, const struct process *p, const struct rec_thread *t,
		      const char *comm)
{
	struct met_thread key = { .tid = t->tid };
	const struct met_thread *pair[] = { m->threads, &key };
	struct met_thread *new;

	key.identity = hash_bytes(hash_u64(t->start_boottime_ns, p ? p->serial : 0), comm,
				  strlen(comm));
	key.identity = hash_u64(key.identity, t->tid);
	if (ix_find(&m->index, key.identity, is_met, pair) != IX_NONE)
		return;
	m->nr_threads++;
	if (m->nr >= FORGET_FROM && m->nr >= m->forget_at)
		forget_ended(m);
	new = array_push(&m->threads, &m->nr, &m->cap);
	if (!new)
		return;
	*new = key;
	if (ix_add(&m->index, key.identity, (uint32_t)m->nr - 1))
		m->nr--;
}
