/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/report/weight_text.h"

#define FEW 12				/* sorted without merging */
/* So many are sorted by keys, unless many are in order, or the room would be large. */
#define MANY 256
#define TOO_MANY (1u << 18)

static inline int compare(const struct page_entry *a, const struct page_entry *b)
{
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->tick != b->tick)
		return a->tick < b->tick ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->scan != b->scan)
		return a->scan < b->scan ? -1 : 1;
	if (a->activity != b->activity)
		return a->activity < b->activity ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->weight < b->weight ? -1 : a->weight > b->weight;
}

void page_entry_join(struct page_entry *to, const struct page_entry *from)
{
	to->weight = weight_sum(to->weight, from->weight);
	to->count += from->count;
}

int page_entries_reserve(struct page_entries *l, size_t nr)
{
	return array_reserve(&l->v, &l->cap, l->nr + nr) ? -ENOMEM : 0;
}

static void insertion_sort(struct page_entry *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct page_entry e;
		size_t at = i;

		if (compare(&v[i - 1], &v[i]) <= 0)
			continue;
		e = v[i];
		for (; at && compare(&v[at - 1], &e) > 0; at--)
			v[at] = v[at - 1];
		v[at] = e;
	}
}

/*
 * Merges v[0..mid) and v[mid..nr), which are sorted. room: for mid entries.
 */
static void merge_halves(struct page_entry *v, size_t mid, size_t nr, struct page_entry *room)
{
	size_t a = 0, b = mid, at = 0;

	memcpy(room, v, mid * sizeof(*v));
	while (a < mid && b < nr)
		v[at++] = compare(&room[a], &v[b]) <= 0 ? room[a++] : v[b++];
	memcpy(v + at, room + a, (mid - a) * sizeof(*v));
}

/* Halves that are in order, as most are in lists sorted by time, cost no more than a look. */
static void merge_sort(struct page_entry *v, size_t nr, struct page_entry *room)
{
	size_t mid = nr / 2;

	if (nr <= FEW) {
		insertion_sort(v, nr);
		return;
	}
	merge_sort(v, mid, room);
	merge_sort(v + mid, nr - mid, room);
	if (compare(&v[mid - 1], &v[mid]) > 0)
		merge_halves(v, mid, nr, room);
}

/* ---- in no order ---- */

/* What is compared first, as a number. */
struct keys {
	uint64_t oldest;		/* tick */
	bool has_threads;		/* there are several */
};

static struct keys keys_of(const struct page_entry *v, size_t nr)
{
	struct keys k = { .oldest = UINT64_MAX };

	for (size_t i = 0; i < nr; i++) {
		k.oldest = v[i].tick < k.oldest ? v[i].tick : k.oldest;
		k.has_threads |= v[i].thread != v[0].thread;
	}
	return k;
}

/* Equal keys say nothing yet. */
static inline uint64_t key_of(const struct keys *k, const struct page_entry *e)
{
	uint64_t ticks = e->tick - k->oldest;

	if (k->has_threads)
		return (uint64_t)e->thread << 32 | (ticks < UINT32_MAX ? ticks : UINT32_MAX);
	return ticks < UINT32_MAX ? ticks << 32 | e->node : UINT64_MAX;
}

/* Sorts from v into to by a byte of the keys. */
static void sort_by_byte(const struct page_entry *v, size_t nr, struct page_entry *to,
			 const struct keys *k, unsigned shift)
{
	size_t begin[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < nr; i++)
		begin[key_of(k, &v[i]) >> shift & 255]++;
	for (size_t i = 0; i < 256; i++) {
		size_t nr_here = begin[i];

		begin[i] = sum;
		sum += nr_here;
	}
	for (size_t i = 0; i < nr; i++)
		to[begin[key_of(k, &v[i]) >> shift & 255]++] = v[i];
}

/* Sorts those with equal keys, which stand beside each other. */
static void sort_equal(struct page_entries *l, const struct keys *k)
{
	for (size_t i = 0, end; i < l->nr; i = end) {
		uint64_t key = key_of(k, &l->v[i]);

		for (end = i + 1; end < l->nr && key_of(k, &l->v[end]) == key;)
			end++;
		merge_sort(l->v + i, end - i, l->room);
	}
}

static void swap_room(struct page_entries *l)
{
	struct page_entry *v = l->v;
	size_t cap = l->cap;

	l->v = l->room;
	l->cap = l->cap_room;
	l->room = v;
	l->cap_room = cap;
}

/* A radix sort: only those bytes of the keys are looked at that differ. */
static void sort_by_keys(struct page_entries *l)
{
	const struct keys k = keys_of(l->v, l->nr);
	uint64_t differs = 0;

	for (size_t i = 1; i < l->nr; i++)
		differs |= key_of(&k, &l->v[i]) ^ key_of(&k, &l->v[0]);
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if (!(differs >> shift & 255))
			continue;
		sort_by_byte(l->v, l->nr, l->room, &k, shift);
		swap_room(l);
	}
	sort_equal(l, &k);
}

static int by_order(const void *a, const void *b)
{
	return compare(a, b);
}

static void sort(struct page_entries *l)
{
	size_t descents = 0;
	bool by_keys;

	if (l->nr <= FEW) {
		insertion_sort(l->v, l->nr);
		return;
	}
	for (size_t i = 1; i < l->nr; i++)
		descents += compare(&l->v[i - 1], &l->v[i]) > 0;
	if (!descents)
		return;
	by_keys = l->nr >= MANY && l->nr <= TOO_MANY && descents > l->nr / 4;
	if (array_reserve(&l->room, &l->cap_room, by_keys ? l->nr : l->nr / 2))
		qsort(l->v, l->nr, sizeof(*l->v), by_order);
	else if (by_keys)
		sort_by_keys(l);
	else
		merge_sort(l->v, l->nr, l->room);
}

void page_entries_sort(struct page_entries *l)
{
	size_t nr = 0;

	sort(l);
	for (size_t i = 0; i < l->nr; i++) {
		if (nr && page_entry_is_like(&l->v[nr - 1], &l->v[i]))
			page_entry_join(&l->v[nr - 1], &l->v[i]);
		else if (nr++ != i)
			l->v[nr - 1] = l->v[i];
	}
	l->nr = nr;
}

void page_entries_release(struct page_entries *l)
{
	free(l->v);
	free(l->room);
	memset(l, 0, sizeof(*l));
}
