/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page_samples.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/profile/weight_text.h"

#define COARSER 2			/* a tick becomes so many times as long, */
#define MUCH_COARSER 8			/* or so many where nearly nothing was alike, */
#define COARSEST 20			/* so often at most */

void page_samples_init(struct page_samples *s, uint64_t tick_ns)
{
	*s = (struct page_samples){ .tick_ns = tick_ns ? tick_ns : 1 };
}

void page_samples_release(struct page_samples *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_time(const void *x, const void *y)
{
	const struct page_entry *a = x, *b = y;
	int c = compare(a->thread, b->thread);

	c = c ? c : compare(a->tick, b->tick);
	c = c ? c : compare(a->node, b->node);
	c = c ? c : compare(a->scan, b->scan);
	c = c ? c : compare(a->activity, b->activity);
	c = c ? c : compare(a->cpu, b->cpu);
	return c ? c : compare(a->weight, b->weight);
}

static bool is_like(const struct page_entry *a, const struct page_entry *b)
{
	return a->thread == b->thread && a->tick == b->tick && a->scan == b->scan &&
	       a->activity == b->activity && a->cpu == b->cpu && a->node == b->node &&
	       a->count <= UINT32_MAX - b->count;
}

static bool is_sorted(const struct page_entry *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (by_time(&v[i - 1], &v[i]) > 0)
			return false;
	return true;
}

/*
 * Sorts by thread, and keeps the order of each thread's entries, which is nearly always that of
 * time: so comparing them comes after, and only where it is not. False: out of memory.
 */
static bool group_threads(struct page_samples *s)
{
	struct page_entry *v = malloc(s->nr * sizeof(*v) + 1);
	size_t *first, threads = 0, sum = 0;

	for (size_t i = 0; i < s->nr; i++)
		threads = s->v[i].thread >= threads ? s->v[i].thread + (size_t)1 : threads;
	first = calloc(threads + 1, sizeof(*first));
	if (!v || !first) {
		free(v);
		free(first);
		return false;
	}
	for (size_t i = 0; i < s->nr; i++)
		first[s->v[i].thread]++;
	for (size_t t = 0; t < threads; t++) {
		size_t here = first[t];

		first[t] = sum;
		sum += here;
	}
	for (size_t i = 0; i < s->nr; i++)
		v[first[s->v[i].thread]++] = s->v[i];
	free(first);
	free(s->v);
	s->v = v;
	s->cap = s->nr;
	return true;
}

static void sort(struct page_samples *s)
{
	if (is_sorted(s->v, s->nr))
		return;
	if (!group_threads(s)) {
		qsort(s->v, s->nr, sizeof(*s->v), by_time);
		return;
	}
	for (size_t i = 0, end; i < s->nr; i = end) {
		for (end = i + 1; end < s->nr && s->v[end].thread == s->v[i].thread;)
			end++;
		if (!is_sorted(s->v + i, end - i))
			qsort(s->v + i, end - i, sizeof(*s->v), by_time);
	}
}

static void join(struct page_entry *to, const struct page_entry *from)
{
	to->weight = weight_sum(to->weight, from->weight);
	to->count += from->count;
}

/* Entries that are alike stand beside each other when they are sorted. */
static void merge(struct page_samples *s)
{
	size_t nr = 0;

	sort(s);
	for (size_t i = 0; i < s->nr; i++) {
		if (nr && is_like(&s->v[nr - 1], &s->v[i]))
			join(&s->v[nr - 1], &s->v[i]);
		else
			s->v[nr++] = s->v[i];
	}
	s->nr = nr;
}

static void coarsen(struct page_samples *s, uint64_t factor)
{
	s->tick_ns = weight_times(s->tick_ns, factor);
	s->coarser++;
	for (size_t i = 0; i < s->nr; i++)
		s->v[i].tick /= factor;
	merge(s);
}

/* In the end all ticks are one; then only the number of threads and stacks is left. */
static void make_room(struct page_samples *s)
{
	size_t before = s->nr;

	merge(s);
	while (s->nr > PAGE_MAX_ENTRIES / 4 * 3 && s->coarser < COARSEST) {
		bool is_vain = s->nr > before / 100 * 97;

		before = s->nr;
		coarsen(s, is_vain ? MUCH_COARSER : COARSER);
	}
}

int page_samples_add(struct page_samples *s, const struct page_entry *e)
{
	struct page_entry entry = *e, *slot;

	if (s->nr >= PAGE_MAX_ENTRIES && s->coarser < COARSEST)
		make_room(s);
	entry.tick /= s->tick_ns;
	if (s->nr && is_like(&s->v[s->nr - 1], &entry)) {
		join(&s->v[s->nr - 1], &entry);
		return 0;
	}
	slot = array_push(&s->v, &s->nr, &s->cap);
	if (!slot)
		return -ENOMEM;
	*slot = entry;
	return 0;
}

void page_samples_end(struct page_samples *s)
{
	merge(s);
}
