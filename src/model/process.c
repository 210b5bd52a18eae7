/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"

void processes_init(struct processes *ps)
{
	memset(ps, 0, sizeof(*ps));
}

static void process_free(struct process *p)
{
	free(p->cmdline);
	free(p->maps);
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

/* Index of the last living mapping that starts at or before addr, or -1. */
static long last_before(const struct process *p, uint64_t addr)
{
	size_t after = bisect(p->nr_live, i, p->maps[i].start <= addr);

	return (long)after - 1;
}

/* Moves living mapping i to the dead ones. */
static void kill_mapping(struct process *p, size_t i, uint64_t time_ns)
{
	struct mapping m = p->maps[i];

	assert(i < p->nr_live && p->nr_live <= p->nr_maps);
	memmove(&p->maps[i], &p->maps[i + 1], (p->nr_live - i - 1) * sizeof(m));
	m.died_ns = time_ns;
	p->maps[--p->nr_live] = m;
}

static int insert_live(struct process *p, const struct mapping *m)
{
	size_t at = (size_t)(last_before(p, m->start) + 1);

	if (array_reserve(&p->maps, &p->cap_maps, p->nr_maps + 1))
		return -ENOMEM;
	p->maps[p->nr_maps] = p->maps[p->nr_live];	/* the first dead one moves to the end */
	memmove(&p->maps[at + 1], &p->maps[at], (p->nr_live - at) * sizeof(*m));
	p->maps[at] = *m;
	p->nr_maps++;
	p->nr_live++;
	return 0;
}

static bool equal(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->binary == b->binary &&
	       a->pgoff_bytes == b->pgoff_bytes;
}

/* Ends the mappings that [start, end) overlaps; their parts outside continue as new mappings. */
static int unmap(struct process *p, uint64_t start, uint64_t end, uint64_t time_ns)
{
	for (long i = last_before(p, end - 1); i >= 0 && p->maps[i].end > start;
	     i = last_before(p, end - 1)) {
		struct mapping head = p->maps[i], tail = head;

		kill_mapping(p, (size_t)i, time_ns);
		head.written = tail.written = false;
		head.born_ns = tail.born_ns = time_ns;
		head.end = start;
		tail.start = end;
		tail.pgoff_bytes += end - p->maps[p->nr_live].start;
		if (tail.start < tail.end && insert_live(p, &tail))
			return -ENOMEM;
		if (head.start < head.end && insert_live(p, &head))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Compilers in programs (YJIT) change the rights of parts of their memory thousands of times in a
 * second, and each time the kernel tells of a mapping, whose end is now here and now there. It is
 * the same memory: what a living one covers is known, and one that grew takes the old one's place.
 * Otherwise there would be a dead mapping for each time.
 */
static bool is_same_memory(const struct mapping *a, const struct mapping *b)
{
	return !a->binary && !b->binary && a->prot == b->prot && a->start == b->start;
}

int process_map(struct process *p, const struct mapping *m)
{
	long i = last_before(p, m->start);
	struct mapping copy = *m;
	int err;

	if (m->start >= m->end)
		return 0;
	if (i >= 0 && equal(&p->maps[i], m))
		return 0;
	if (i >= 0 && is_same_memory(&p->maps[i], m)) {
		if (m->end <= p->maps[i].end)
			return 0;
		if (last_before(p, m->end - 1) == i) {
			p->maps[i].end = m->end;
			p->maps[i].written = false;
			p->maps[i].generation = ++p->generation;
			p->dirty = true;
			return 0;
		}
	}
	err = unmap(p, m->start, m->end, m->born_ns);
	p->generation++;
	p->dirty = true;
	copy.generation = p->generation;
	return err ? err : insert_live(p, &copy);
}

static bool overlaps_any(const struct mapping *m, const struct mapping *found, size_t nr)
{
	for (size_t i = 0; i < nr && found[i].start < m->end; i++)
		if (found[i].end > m->start)
			return true;
	return false;
}

bool process_keep(struct process *p, const struct mapping *found, size_t nr, uint64_t time_ns)
{
	size_t before = p->nr_live;

	for (size_t i = p->nr_live; i-- > 0;)
		if (!overlaps_any(&p->maps[i], found, nr))
			kill_mapping(p, i, time_ns);
	if (p->nr_live == before)
		return false;
	p->generation++;
	p->dirty = true;
	return true;
}

void process_published(struct process *p, uint64_t now_ns)
{
	if (p->published[0].since_ns && p->published[0].generation == p->generation)
		return;		/* only windows of code have changed since */
	memmove(&p->published[1], &p->published[0],
		(PROCESS_PUBLICATIONS - 1) * sizeof(p->published[0]));
	p->published[0] = (struct publication){ now_ns, p->generation };
}

bool process_knew(const struct process *p, const struct mapping *m, uint64_t time_ns)
{
	for (size_t i = 0; i < PROCESS_PUBLICATIONS && p->published[i].since_ns; i++)
		if (p->published[i].since_ns <= time_ns || i == PROCESS_PUBLICATIONS - 1)
			return m->generation <= p->published[i].generation;
	return true;	/* nothing was published before, so nothing outdated was used */
}

int process_inherit(struct process *child, const struct process *parent, uint64_t time_ns)
{
	if (array_reserve(&child->maps, &child->cap_maps, parent->nr_live))
		return -ENOMEM;
	if (parent->nr_live)
		memcpy(child->maps, parent->maps, parent->nr_live * sizeof(*child->maps));
	child->nr_maps = child->nr_live = parent->nr_live;
	for (size_t i = 0; i < child->nr_live; i++) {
		child->maps[i].born_ns = time_ns;
		child->maps[i].written = false;
	}
	child->exe = parent->exe;
	memcpy(child->comm, parent->comm, sizeof(child->comm));
	if (parent->cmdline && !child->cmdline)
		child->cmdline = strdup(parent->cmdline);
	child->generation = parent->generation;
	memcpy(child->published, parent->published, sizeof(child->published));
	return 0;
}

const struct mapping *process_find_mapping(const struct process *p, uint64_t addr, uint64_t time_ns)
{
	long i = last_before(p, addr);

	if (i >= 0 && addr < p->maps[i].end && p->maps[i].born_ns <= time_ns)
		return &p->maps[i];
	for (size_t k = p->nr_live; k < p->nr_maps; k++) {
		const struct mapping *m = &p->maps[k];

		if (addr >= m->start && addr < m->end && m->born_ns <= time_ns &&
		    time_ns < m->died_ns)
			return m;
	}
	/* A mapping that was learnt a little later, from a scan of /proc, is better than none. */
	return i >= 0 && addr < p->maps[i].end ? &p->maps[i] : NULL;
}

const struct mapping *process_mapping_before(const struct process *p, uint64_t addr)
{
	long i = last_before(p, addr);

	return i < 0 ? NULL : &p->maps[i];
}

void process_exit(struct process *p, uint64_t time_ns)
{
	if (p->died_ns == TIME_NEVER)
		p->died_ns = time_ns;
}

struct window_of_code *process_window(struct process *p, uint64_t begin, bool make)
{
	size_t at = bisect(p->nr_windows, i, p->windows[i].begin < begin);

	if (at < p->nr_windows && p->windows[at].begin == begin)
		return &p->windows[at];
	if (!make || array_reserve(&p->windows, &p->cap_windows, p->nr_windows + 1))
		return NULL;
	memmove(&p->windows[at + 1], &p->windows[at],
		(p->nr_windows - at) * sizeof(*p->windows));
	p->nr_windows++;
	p->windows[at] = (struct window_of_code){ .begin = begin };
	return &p->windows[at];
}

void process_window_remove(struct process *p, struct window_of_code *of)
{
	size_t at = (size_t)(of - p->windows);

	assert(at < p->nr_windows);
	memmove(of, of + 1, (p->nr_windows - at - 1) * sizeof(*of));
	p->nr_windows--;
}

static void prune_mappings(struct process *p, uint64_t time_ns)
{
	size_t keep = p->nr_live;

	for (size_t k = p->nr_live; k < p->nr_maps; k++) {
		if (p->maps[k].died_ns >= time_ns)
			p->maps[keep++] = p->maps[k];
	}
	p->nr_maps = keep;
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
			prune_mappings(p, time_ns);
			at = &p->next;
			continue;
		}
		release(ctx, p);
		*at = p->next;
		forget(ps, p);
	}
}
