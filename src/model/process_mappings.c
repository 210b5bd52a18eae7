/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of one process over time. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/model/process.h"

#define TURNS_SEEN 32		/* mappings that ended last, among which others of a place are */

/* With so many mappings of all processes, one process has less room. */
static size_t room_of(const struct process *p)
{
	static const struct {
		size_t all, room;
	} steps[] = { { 1u << 20, 128 }, { 1u << 19, 512 } };

	for (size_t i = 0; p->nr_of_all && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (*p->nr_of_all >= steps[i].all)
			return steps[i].room;
	return PROCESS_MAPPINGS;
}

static void count(struct process *p, ptrdiff_t change)
{
	assert(!p->nr_of_all || change >= 0 || *p->nr_of_all >= (size_t)-change);
	if (p->nr_of_all)
		*p->nr_of_all += (size_t)change;
}

/* Index of the last living mapping that starts at or before addr, or -1. */
static long last_before(const struct process *p, uint64_t addr)
{
	size_t after = bisect(p->nr_live, i, p->maps[i].start <= addr);

	return (long)after - 1;
}

/*
 * Forgets a quarter of the dead ones, those that ended first. What a trace knows of must be taken
 * back there, so it stays.
 */
static void drop_ended(struct process *p)
{
	size_t kept = 0, before = p->nr_ended;

	for (size_t i = 0; i < before; i++)
		if (i >= before / 4 || p->ended[i].written)
			p->ended[kept++] = p->ended[i];
	p->nr_ended = kept;
	count(p, (ptrdiff_t)kept - (ptrdiff_t)before);
}

/* Events come nearly in the order of their times. Out of memory, m is forgotten. */
static void put_ended(struct process *p, const struct mapping *m, uint64_t time_ns)
{
	size_t at;

	if (p->nr_ended >= PROCESS_ENDED)
		drop_ended(p);
	if (array_reserve(&p->ended, &p->cap_ended, p->nr_ended + 1))
		return;
	for (at = p->nr_ended++; at && p->ended[at - 1].died_ns > time_ns; at--)
		p->ended[at] = p->ended[at - 1];
	p->ended[at] = *m;
	p->ended[at].died_ns = time_ns;
	count(p, 1);
}

/* Moves living mapping i to the dead ones. */
static void kill_mapping(struct process *p, size_t i, uint64_t time_ns)
{
	assert(i < p->nr_live);
	put_ended(p, &p->maps[i], time_ns);
	memmove(&p->maps[i], &p->maps[i + 1], (p->nr_live - i - 1) * sizeof(*p->maps));
	p->nr_live--;
	count(p, -1);
}

static int insert_live(struct process *p, const struct mapping *m)
{
	size_t at = (size_t)(last_before(p, m->start) + 1);

	/* Living mappings are sorted, and none overlaps another: last_before() relies on it. */
	assert(!at || p->maps[at - 1].end <= m->start);
	assert(at == p->nr_live || m->end <= p->maps[at].start);
	if (array_reserve(&p->maps, &p->cap_maps, p->nr_live + 1))
		return -ENOMEM;
	memmove(&p->maps[at + 1], &p->maps[at], (p->nr_live - at) * sizeof(*m));
	p->maps[at] = *m;
	p->nr_live++;
	count(p, 1);
	return 0;
}

/* Whether b tells nothing that a does not. */
static bool equal(const struct mapping *a, const struct mapping *b)
{
	if (a->start != b->start || a->end != b->end || a->pgoff_bytes != b->pgoff_bytes)
		return false;
	if (b->is_unread)
		return a->ino == b->ino && a->dev == b->dev;
	return a->binary == b->binary && !a->is_unread;
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
		tail.pgoff_bytes += end - head.start;
		tail.start = end;
		head.end = start;
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
	return !a->binary && !b->binary && !a->is_unread && !b->is_unread && a->prot == b->prot &&
	       a->start == b->start;
}

/* Makes room in a crowded process: mappings go that no stack has met, else the oldest. */
static void make_place(struct process *p, uint64_t time_ns)
{
	size_t kept = 0, gone = 0, nr_met = 0;

	for (size_t i = 0; i < p->nr_live; i++)
		nr_met += p->maps[i].is_met;
	for (size_t i = 0; i < p->nr_live; i++) {
		const struct mapping *m = &p->maps[i];

		if (gone < PROCESS_MET && (!m->is_met || nr_met == p->nr_live)) {
			put_ended(p, m, time_ns);
			gone++;
		} else {
			p->maps[kept++] = *m;
		}
	}
	p->nr_live = kept;
	count(p, -(ptrdiff_t)gone);
}

/* Whether a new mapping is followed. */
static bool has_place(struct process *p, const struct mapping *m)
{
	if (p->nr_live < room_of(p) && !p->is_crowded)
		return true;
	p->is_crowded = true;
	if (m->is_met && p->nr_live >= room_of(p) + PROCESS_MET)
		make_place(p, m->born_ns);
	return m->is_met;
}

static bool is_file(const struct mapping *m)
{
	return m->binary || m->is_unread;
}

/* Whether old is another file than m at a place of m's, and was there a short time before. */
static bool was_there(const struct mapping *old, const struct mapping *m)
{
	bool is_other = old->binary != m->binary || old->ino != m->ino;

	return is_file(old) && is_other && old->start < m->end && old->end > m->start &&
	       old->born_ns && m->born_ns < old->born_ns + PROCESS_TURN_NS;
}

/* Whether m takes turns with other files, which live, or have just ended. */
static bool takes_turns(const struct process *p, const struct mapping *m)
{
	bool found = false;

	if (!is_file(m))
		return false;
	for (long i = last_before(p, m->end - 1); i >= 0 && p->maps[i].end > m->start; i--)
		found |= was_there(&p->maps[i], m);
	for (size_t n = 1; n <= p->nr_ended && n <= TURNS_SEEN && !found; n++)
		found = was_there(&p->ended[p->nr_ended - n], m);
	return found;
}

bool process_has_settled(struct process *p, uint64_t now_ns)
{
	bool had = p->has_fleeting, settled = false;

	p->has_fleeting = false;
	for (size_t i = 0; had && i < p->nr_live; i++) {
		struct mapping *m = &p->maps[i];

		if (!m->is_fleeting)
			continue;
		m->is_fleeting = now_ns - m->born_ns < 2 * PROCESS_TURN_NS;
		p->has_fleeting |= m->is_fleeting;
		settled |= !m->is_fleeting;
	}
	p->dirty |= settled;
	return settled;
}

int process_map(struct process *p, const struct mapping *m)
{
	long i = last_before(p, m->start);
	struct mapping copy = *m;
	bool changes, follows = false;
	int err;

	if (m->start >= m->end)
		return 0;
	if (i >= 0 && equal(&p->maps[i], m)) {
		/* /proc was read before the event that tells since when it is there. */
		if (m->born_ns < p->maps[i].born_ns)
			p->maps[i].born_ns = m->born_ns;
		return 0;
	}
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
	i = last_before(p, m->end - 1);
	changes = i >= 0 && p->maps[i].end > m->start;
	copy.is_fleeting = takes_turns(p, m);
	p->has_fleeting |= copy.is_fleeting;
	err = unmap(p, m->start, m->end, m->born_ns);
	if (!err)
		follows = has_place(p, m);
	changes |= follows;
	p->generation += changes;
	p->dirty |= changes;
	copy.generation = p->generation;
	return err || !follows ? err : insert_live(p, &copy);
}

void process_file_read(struct process *p, const struct mapping *of, uint32_t binary,
		       uint64_t to_vaddr)
{
	struct mapping *m = &p->maps[of - p->maps];

	assert(m < p->maps + p->nr_live && m->is_unread);
	m->binary = binary;
	m->to_vaddr = to_vaddr;
	m->is_unread = m->written = false;
	p->generation++;
	p->dirty = true;
}

int process_meet(struct process *p, const struct mapping *m)
{
	struct mapping met = *m;

	met.is_met = true;
	return process_map(p, &met);
}

bool process_keep(struct process *p, const struct mapping *found, size_t nr, uint64_t time_ns)
{
	size_t before = p->nr_live, kept = 0, k = 0;

	for (size_t i = 0; i < before; i++) {
		while (k < nr && found[k].end <= p->maps[i].start)
			k++;
		if (k < nr && found[k].start < p->maps[i].end)
			p->maps[kept++] = p->maps[i];
		else
			put_ended(p, &p->maps[i], time_ns);
	}
	p->nr_live = kept;
	count(p, (ptrdiff_t)kept - (ptrdiff_t)before);
	if (kept == before)
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
	assert(child != parent);
	if (array_reserve(&child->maps, &child->cap_maps, parent->nr_live))
		return -ENOMEM;
	if (parent->nr_live)
		memcpy(child->maps, parent->maps, parent->nr_live * sizeof(*child->maps));
	child->nr_live = parent->nr_live;
	count(child, (ptrdiff_t)child->nr_live);
	child->is_crowded = parent->is_crowded;
	child->has_fleeting = parent->has_fleeting;
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
	/* Stacks are young when they come, so only a few mappings have ended since. */
	for (size_t k = bisect(p->nr_ended, e, p->ended[e].died_ns <= time_ns); k < p->nr_ended;
	     k++) {
		const struct mapping *m = &p->ended[k];

		if (addr >= m->start && addr < m->end && m->born_ns <= time_ns)
			return m;
	}
	/*
	 * A mapping that was learnt a little later, from a scan of /proc, is better than none. But
	 * where files take turns, it is as likely the wrong one.
	 */
	return i >= 0 && addr < p->maps[i].end && !p->maps[i].is_fleeting ? &p->maps[i] : NULL;
}

const struct mapping *process_mapping_before(const struct process *p, uint64_t addr)
{
	long i = last_before(p, addr);

	return i < 0 ? NULL : &p->maps[i];
}

struct window_of_code *process_window(struct process *p, uint64_t begin, bool make)
{
	size_t at = bisect(p->nr_windows, i, p->windows[i].begin < begin);

	if (at < p->nr_windows && p->windows[at].begin == begin)
		return &p->windows[at];
	assert(at == p->nr_windows || p->windows[at].begin > begin);
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

void process_forget_mappings(struct process *p, uint64_t time_ns)
{
	size_t gone = bisect(p->nr_ended, i, p->ended[i].died_ns < time_ns);

	if (!gone)
		return;
	p->nr_ended -= gone;
	memmove(p->ended, p->ended + gone, p->nr_ended * sizeof(*p->ended));
	count(p, -(ptrdiff_t)gone);
}
