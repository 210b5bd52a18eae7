/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

void processes_init(struct processes *ps)
{
	memset(ps, 0, sizeof(*ps));
}

static void process_free(struct process *p)
{
	free(p->cmdline);
	free(p->maps);
	free(p->ended);
	free(p->windows);
	free(p);
}

void processes_release(struct processes *ps)
{
	struct process *p, *next;

	for (p = ps->all; p; p = next) {
		next = p->next;
		process_free(p);
	}
	free(ps->newest);
	free(ps->free_newest);
	free(ps->free_slots);
	ix_release(&ps->by_tgid);
	memset(ps, 0, sizeof(*ps));
}

struct key {
	const struct processes *ps;
	uint32_t tgid;
};

static bool same_tgid(const void *ctx, uint32_t slot)
{
	const struct key *k = ctx;

	return k->ps->newest[slot]->tgid == k->tgid;
}

static uint32_t find_slot(const struct processes *ps, uint32_t tgid)
{
	struct key k = { ps, tgid };

	return ix_find(&ps->by_tgid, hash_u64(3, tgid), same_tgid, &k);
}

struct process *processes_find(const struct processes *ps, uint32_t tgid, uint64_t time_ns)
{
	uint32_t slot = find_slot(ps, tgid);
	struct process *p = slot == IX_NONE ? NULL : ps->newest[slot];

	if (time_ns == TIME_NEVER)
		return p && p->died_ns == TIME_NEVER ? p : NULL;
	while (p && p->born_ns > time_ns)
		p = p->older;
	/*
	 * A process that has ended is found too: samples of it come until a little after its exit.
	 */
	return p;
}

static int put_newest(struct processes *ps, struct process *p)
{
	uint32_t slot = find_slot(ps, p->tgid);
	struct process **place;

	if (slot != IX_NONE) {
		p->older = ps->newest[slot];
		if (p->older->died_ns == TIME_NEVER)
			process_exit(p->older, p->born_ns);
		ps->newest[slot] = p;
		return 0;
	}
	if (ps->nr_free) {
		slot = (uint32_t)ps->free_newest[--ps->nr_free];
		assert(slot < ps->nr_newest);
		place = &ps->newest[slot];
	} else {
		place = array_push(&ps->newest, &ps->nr_newest, &ps->cap_newest);
		slot = (uint32_t)ps->nr_newest - 1;
	}
	if (!place)
		return -ENOMEM;
	*place = p;
	return ix_add(&ps->by_tgid, hash_u64(3, p->tgid), slot);
}

static struct process *process_new(uint32_t tgid, uint64_t born_ns)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->tgid = tgid;
	p->born_ns = born_ns;
	p->died_ns = TIME_NEVER;
	return p;
}

static struct process *keep(struct processes *ps, struct process *p)
{
	p->nr_of_all = &ps->nr_mappings;
	p->slot = ps->nr_free_slots ? ps->free_slots[--ps->nr_free_slots] : ps->nr_slots++;
	p->serial = ++ps->serials;
	p->next = ps->all;
	ps->all = p;
	ps->nr++;
	return p;
}

struct process *processes_oldest(const struct processes *ps, uint32_t tgid)
{
	uint32_t slot = find_slot(ps, tgid);
	struct process *p = slot == IX_NONE ? NULL : ps->newest[slot];

	while (p && p->older)
		p = p->older;
	return p;
}

struct process *processes_add(struct processes *ps, uint32_t tgid, uint64_t born_ns)
{
	struct process *p = process_new(tgid, born_ns);

	if (p && put_newest(ps, p)) {
		process_free(p);
		return NULL;
	}
	return p ? keep(ps, p) : NULL;
}

struct process *processes_add_before(struct processes *ps, struct process *oldest,
				     uint64_t born_ns)
{
	struct process *p = process_new(oldest->tgid, born_ns);

	assert(!oldest->older && born_ns < oldest->born_ns);
	if (!p)
		return NULL;
	p->died_ns = oldest->born_ns;
	oldest->older = p;
	return keep(ps, p);
}

void process_exit(struct process *p, uint64_t time_ns)
{
	if (p->died_ns == TIME_NEVER)
		p->died_ns = time_ns;
}

/* Takes p out of the chain of its tgid. */
static void unchain(struct processes *ps, struct process *p)
{
	uint32_t slot = find_slot(ps, p->tgid);
	struct process **at;
	size_t *free_slot;

	if (slot == IX_NONE)
		return;
	for (at = &ps->newest[slot]; *at && *at != p; at = &(*at)->older)
		;
	if (!*at)
		return;
	if (at != &ps->newest[slot] || p->older) {
		*at = p->older;
		return;
	}
	ix_remove(&ps->by_tgid, hash_u64(3, p->tgid), slot);
	free_slot = array_push(&ps->free_newest, &ps->nr_free, &ps->cap_free);
	if (free_slot)
		*free_slot = slot;
}

static void forget(struct processes *ps, struct process *p)
{
	uint32_t *slot = array_push(&ps->free_slots, &ps->nr_free_slots, &ps->cap_free_slots);

	if (slot)	/* out of memory: the slot is never used again */
		*slot = p->slot;
	unchain(ps, p);
	assert(ps->nr && ps->nr_mappings >= process_nr_mappings(p));
	ps->nr_mappings -= process_nr_mappings(p);
	ps->nr--;
	process_free(p);
}

void processes_await(struct processes *ps, uint32_t tgid, uint64_t time_ns)
{
	struct process *p = processes_find(ps, tgid, time_ns);

	if (p)
		p->awaited = true;
}

void processes_prune(struct processes *ps, uint64_t ended_ns, uint64_t awaited_ns,
		     void (*release)(void *ctx, struct process *p), void *ctx)
{
	struct process **at = &ps->all, *p;

	while ((p = *at)) {
		uint64_t time_ns = p->awaited ? awaited_ns : ended_ns;

		p->awaited = false;
		if (p->died_ns >= time_ns) {
			process_forget_mappings(p, time_ns);
			at = &p->next;
			continue;
		}
		release(ctx, p);
		*at = p->next;
		forget(ps, p);
	}
}
