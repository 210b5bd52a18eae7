/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/unwind_slices.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/capture/tables/mapped_array.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/capture/tables/room_owners.h"

#define ROUND 4			/* lengths are multiples of it, so that freed ones fit new ones */
#define WINDOW_BYTES (1ull << UNWIND_PAGE_SHIFT)
#define MAX_SLICE 16384		/* mappings that unwind_find_mapping() can search */

struct slice {
	struct slice *next;		/* the one replaced after it */
	struct retired_at retired;
	uint32_t first, nr, room;
	uint32_t refs;			/* processes that share it */
	unsigned owner;			/* his place in room_owners */
	uint32_t tgid;			/* the process that it was made for */
};

struct shown {
	uint64_t serial;
	struct slice *slice;		/* NULL: none */
	uint32_t tgid;
};

void unwind_slices_mapping(struct unwind_mapping *to, const struct mapping *m,
			   const struct binary *b)
{
	to->begin = m->start;
	to->end = m->end;
	to->bias = b ? b->vaddr_lo - m->to_vaddr : 0;
	to->binary = m->is_unread ? UNWIND_UNREAD : m->binary;
	to->flags = (!m->binary && !m->is_unread) || (b && binary_is_memory(b))
			    ? UNWIND_MAP_GENERATED
			    : 0;
}

/* Where entries go: all of them, or the one that holds an address. */
struct stretches {
	struct unwind_mapping *to;	/* NULL: they are only counted */
	size_t nr;
	const uint64_t *only;		/* NULL: all */
};

/* One more entry, unless it is empty or not wanted. */
static void put_stretch(struct stretches *s, const struct unwind_mapping *whole, uint64_t begin,
			uint64_t end, const struct window_of_code *w)
{
	struct unwind_mapping *to = s->to ? &s->to[s->nr] : NULL;

	if (begin >= end || (s->only && (*s->only < begin || *s->only >= end)))
		return;
	s->nr++;
	if (!to)
		return;
	*to = *whole;
	to->begin = begin;
	to->end = end;
	if (w) {
		to->flags |= UNWIND_MAP_GENERATED | (w->is_settled ? UNWIND_MAP_ASKED : 0);
		to->binary = w->table ? w->table : whole->binary;
		to->bias = w->table ? w->begin & ~(WINDOW_BYTES - 1) : whole->bias;
	}
}

static void each_stretch(struct stretches *s, const struct process *p, const struct mapping *m,
			 const struct binary *b)
{
	struct unwind_mapping whole;
	uint64_t at = m->start;

	unwind_slices_mapping(&whole, m, b);
	if (whole.flags & UNWIND_MAP_GENERATED && p->no_more_windows)
		whole.flags |= UNWIND_MAP_ASKED;
	for (size_t i = 0; whole.flags & UNWIND_MAP_GENERATED && i < p->nr_windows; i++) {
		const struct window_of_code *w = &p->windows[i];
		uint64_t begin = w->begin > m->start ? w->begin : m->start,
			 end = w->end < m->end ? w->end : m->end;

		if (begin >= end || w->read_ns < m->born_ns)
			continue;
		put_stretch(s, &whole, at, begin, NULL);
		put_stretch(s, &whole, begin, end, w);
		at = end;
	}
	put_stretch(s, &whole, at, m->end, NULL);
}

size_t unwind_slices_stretches(struct unwind_mapping *to, const struct process *p,
			       const struct mapping *m, const struct binary *b)
{
	struct stretches s = { .to = to };

	each_stretch(&s, p, m, b);
	return s.nr;
}

bool unwind_slices_stretch_at(struct unwind_mapping *to, const struct process *p,
			      const struct mapping *m, const struct binary *b, uint64_t addr)
{
	struct stretches s = { .to = to, .only = &addr };

	each_stretch(&s, p, m, b);
	return s.nr;
}

/* All entries of a process. to NULL: only counts them. */
static size_t fill(struct unwind_mapping *to, const struct binaries *bs, const struct process *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_live; i++)
		if (!p->maps[i].is_fleeting)
			nr += unwind_slices_stretches(to ? to + nr : NULL, p, &p->maps[i],
						      binaries_get(bs, p->maps[i].binary));
	return nr;
}

void unwind_slices_init(struct unwind_slices *s, struct unwind_mapping *v, uint32_t max,
			int processes_fd, uint64_t *versions, const struct epoch *epoch)
{
	memset(s, 0, sizeof(*s));
	s->epoch = epoch;
	s->v = v;
	s->max = max;
	s->processes_fd = processes_fd;
	s->versions = versions;
	s->newest = &s->oldest;
	s->shown.size = sizeof(struct shown);
	s->binary_of = calloc(max, sizeof(*s->binary_of));	/* NULL: no slice is made */
	extents_give(&s->free, 0, max);
}

void unwind_slices_release(struct unwind_slices *s)
{
	struct slice *next;

	for (struct slice *x = s->oldest; x; x = next) {
		next = x->next;
		free(x);
	}
	free(s->binary_of);
	free(s->nr_entries);
	extents_release(&s->free);
	per_process_release(&s->shown);
	memset(s, 0, sizeof(*s));
}

/* ---- numbers ---- */

static uint32_t number_of(const struct unwind_slices *s, uint32_t binary)
{
	return s->numbers.number_of ? s->numbers.number_of(s->numbers.ctx, binary) : binary;
}

/* Gives an entry its number; that of a file's mapping may change. */
static void number_entry(struct unwind_slices *s, uint32_t i)
{
	uint32_t binary = s->v[i].binary;

	s->v[i].binary = number_of(s, binary);
	if (!binary || binary >= UNWIND_FIRST_WINDOW ||
	    array_reserve(&s->nr_entries, &s->cap_entries, (size_t)binary + 1))
		return;
	s->binary_of[i] = binary;
	s->nr_entries[binary]++;
}

static void forget_entries(struct unwind_slices *s, const struct slice *x)
{
	for (uint32_t i = x->first; i < x->first + x->nr; i++) {
		assert(s->binary_of[i] < s->cap_entries || !s->binary_of[i]);
		if (s->binary_of[i])
			s->nr_entries[s->binary_of[i]]--;
		s->binary_of[i] = 0;
	}
}

void unwind_slices_renumber(struct unwind_slices *s, uint32_t binary, uint32_t number)
{
	uint32_t left = binary < s->cap_entries ? s->nr_entries[binary] : 0;

	for (uint32_t i = 0; i < s->end && left; i++) {
		if (s->binary_of[i] != binary)
			continue;
		__atomic_store_n(&s->v[i].binary, number, __ATOMIC_RELEASE);
		left--;
	}
}

/* ---- slices ---- */

static void charge(struct unwind_slices *s, const struct slice *x, int sign)
{
	if (s->numbers.owners)
		room_owners_change(s->numbers.owners, x->owner, ROOM_MAPPINGS,
				   sign * (int64_t)x->room);
}

static void reclaim(struct unwind_slices *s)
{
	while (s->oldest && epoch_is_over(s->epoch, &s->oldest->retired)) {
		struct slice *x = s->oldest;

		s->oldest = x->next;
		if (!s->oldest)
			s->newest = &s->oldest;
		forget_entries(s, x);
		assert(!x->refs && s->retired_room >= x->room);
		s->retired_room -= x->room;
		extents_give(&s->free, x->first, x->room);
		free(x);
	}
}

static void put(struct unwind_slices *s, struct slice *x)
{
	assert(!x || x->refs);
	if (!x || --x->refs)
		return;
	charge(s, x, -1);
	s->retired_room += x->room;
	x->retired = epoch_retire(s->epoch);
	x->next = NULL;
	*s->newest = x;
	s->newest = &x->next;
}

static uint32_t room_of(size_t nr)
{
	return (uint32_t)(nr + ROUND - 1) & ~(ROUND - 1u);
}

/* Takes room for the entries of x that can be written. */
static int take_room(struct unwind_slices *s, struct slice *x)
{
	int err = x->nr > s->max ? -ENOSPC : extents_take(&s->free, x->room, &x->first);

	if (err || !s->array)
		return err;
	err = mapped_array_need(s->array, x->first * sizeof(*s->v), x->room * sizeof(*s->v));
	if (err)
		extents_give(&s->free, x->first, x->room);
	return err;
}

static struct slice *slice_new(struct unwind_slices *s, uint32_t tgid, size_t nr)
{
	struct slice *x = s->binary_of ? calloc(1, sizeof(*x)) : NULL;

	if (!x)
		return NULL;
	reclaim(s);
	x->nr = (uint32_t)nr;
	x->room = room_of(nr);
	x->refs = 1;
	x->tgid = tgid;
	if (take_room(s, x)) {
		free(x);
		return NULL;
	}
	if (s->numbers.owner_of)
		x->owner = s->numbers.owner_of(s->numbers.ctx, tgid);
	charge(s, x, 1);
	s->end = x->first + x->room > s->end ? x->first + x->room : s->end;
	return x;
}

static uint64_t slice_word(const struct slice *x)
{
	return (uint64_t)x->nr << 32 | x->first;
}

/* Called after each change: what memos keep of the process does not hold any more. */
static void change_version(struct unwind_slices *s, uint32_t tgid)
{
	__atomic_fetch_add(&s->versions[unwind_version_of(tgid)], 1, __ATOMIC_RELEASE);
}

static int publish(struct unwind_slices *s, const struct process *p, const struct slice *x)
{
	struct unwind_process value = { slice_word(x),
					p->exec_ns > s->attached_ns ? p->exec_ns : 0 };
	int err;

	if (s->runtimes)
		process_runtimes_publish(s->runtimes, p);
	err = bpf_map_update_elem(s->processes_fd, &p->tgid, &value, BPF_ANY) ? -errno : 0;
	change_version(s, p->tgid);
	return err;
}

static void withdraw(struct unwind_slices *s, uint32_t tgid)
{
	if (s->runtimes)
		process_runtimes_forget(s->runtimes, tgid);
	bpf_map_delete_elem(s->processes_fd, &tgid);
	change_version(s, tgid);
}

/* The stacks of a process without a slice are unwound in user space, which is slower, but right. */
static void unpublish(struct unwind_slices *s, const struct process *p, struct shown *shown)
{
	withdraw(s, p->tgid);
	put(s, shown->slice);
	shown->slice = NULL;
}

/* ---- taken back ---- */

static struct slice *largest_of(const struct unwind_slices *s, unsigned owner)
{
	const struct shown *all = s->shown.v;
	struct slice *found = NULL;

	for (size_t i = 0; i < s->shown.cap; i++) {
		struct slice *x = all[i].slice;

		if (x && x->owner == owner && (!found || x->room > found->room))
			found = x;
	}
	return found;
}

/* From all processes that share it. */
static void take_back(struct unwind_slices *s, const struct slice *x)
{
	struct shown *all = s->shown.v;

	for (size_t i = 0; i < s->shown.cap; i++) {
		if (all[i].slice != x)
			continue;
		withdraw(s, all[i].tgid);
		all[i].slice = NULL;
		put(s, (struct slice *)x);
		s->nr_taken++;
	}
}

/* Whether there will be room for nr entries of tgid, for which slices of others were taken back. */
static bool make_room(struct unwind_slices *s, uint32_t tgid, size_t nr)
{
	bool waits = s->retired_room >= room_of(nr);
	unsigned owner, heaviest;
	struct slice *x;

	if (!s->numbers.owner_of)
		return false;
	owner = s->numbers.owner_of(s->numbers.ctx, tgid);
	/* If there is room that is in pieces, one more goes, each time. */
	while (!waits) {
		heaviest = room_owners_heaviest(s->numbers.owners, ROOM_MAPPINGS, owner,
						room_of(nr));
		x = heaviest == owner ? NULL : largest_of(s, heaviest);
		if (!x)
			return false;
		take_back(s, x);
		waits = s->free.nr_free + s->retired_room >= room_of(nr);
	}
	return true;
}

/* There is no room for p's entries now. */
static int no_slice(struct unwind_slices *s, struct process *p, struct shown *shown, size_t nr)
{
	unpublish(s, p, shown);
	if (nr > MAX_SLICE)
		return -EFBIG;
	p->dirty = nr <= s->max && make_room(s, p->tgid, nr);
	return p->dirty ? -EAGAIN : -ENOSPC;
}

int unwind_slices_process(struct unwind_slices *s, const struct binaries *bs, struct process *p)
{
	struct shown *shown = per_process_at(&s->shown, p);
	size_t nr = p->nr_live <= MAX_SLICE ? fill(NULL, bs, p) : p->nr_live;
	struct slice *x = shown && nr <= MAX_SLICE ? slice_new(s, p->tgid, nr) : NULL;
	int err;

	p->dirty = false;
	if (!shown)
		return -ENOMEM;
	if (!x)
		return no_slice(s, p, shown, nr);
	fill(&s->v[x->first], bs, p);
	for (uint32_t i = x->first; i < x->first + x->nr; i++)
		number_entry(s, i);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	err = publish(s, p, x);
	process_published(p, now_ns());
	put(s, shown->slice);
	shown->slice = x;
	shown->tgid = p->tgid;
	s->nr_published++;
	if (err)
		unpublish(s, p, shown);
	return err == -ENOMEM ? -E2BIG : err;
}

static struct slice *slice_of(const struct unwind_slices *s, const struct process *p)
{
	const struct shown *shown = per_process_find(&s->shown, p);

	return shown ? shown->slice : NULL;
}

bool unwind_slices_inherit(struct unwind_slices *s, const struct process *child,
			   const struct process *parent)
{
	/* The numbers of its windows' tables are those of other windows later. */
	struct slice *x = parent->nr_windows ? NULL : slice_of(s, parent);
	struct shown *shown = x ? per_process_at(&s->shown, child) : NULL;

	if (!shown)
		return false;
	assert(x->refs);
	x->refs++;
	shown->slice = x;
	shown->tgid = child->tgid;
	return true;
}

void unwind_slices_forget(struct unwind_slices *s, struct process *p)
{
	struct shown *shown = per_process_find(&s->shown, p);
	struct slice *x = shown ? shown->slice : NULL;
	struct unwind_process value;

	/* on_exit() has deleted the entry. If it has not, the entry must not outlive the slice. */
	if (x && !bpf_map_lookup_elem(s->processes_fd, &p->tgid, &value) &&
	    value.slice == slice_word(x))
		withdraw(s, p->tgid);
	put(s, x);
	if (shown)
		shown->slice = NULL;
}

int unwind_slices_check(struct unwind_slices *s, struct process *p)
{
	const struct slice *x = slice_of(s, p);
	struct unwind_process value;

	if (!x || !bpf_map_lookup_elem(s->processes_fd, &p->tgid, &value))
		return 0;
	publish(s, p, x);
	return 1;
}

uint64_t unwind_slices_used(const struct unwind_slices *s)
{
	return s->max - s->free.nr_free;
}
