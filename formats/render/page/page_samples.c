/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_samples.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/report/weight_text.h"

/* Shifts: a tick becomes twice as long, or eight times where nearly nothing was alike. */
#define COARSER 1
#define MUCH_COARSER 3
#define COARSEST 20			/* so often at most */
#define LARGE 4096			/* rows grow slower from here on */
#define WAITING 512
#define AHEAD 8				/* rows are fetched so many entries before */
#define FEW 12				/* sorted without merging */

void page_samples_init(struct page_samples *s, uint64_t tick_ns)
{
	*s = (struct page_samples){ .tick_ns = tick_ns ? tick_ns : 1 };
}

void page_samples_release(struct page_samples *s)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		free(s->rows[i].v);
	free(s->rows);
	free(s->waiting);
	free(s->room);
	memset(s, 0, sizeof(*s));
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Orders the entries of one thread. */
static inline int by_time(const void *x, const void *y)
{
	const struct page_entry *a = x, *b = y;

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
	return compare(a->weight, b->weight);
}

static bool is_like(const struct page_entry *a, const struct page_entry *b)
{
	return a->thread == b->thread && a->tick == b->tick && a->scan == b->scan &&
	       a->activity == b->activity && a->cpu == b->cpu && a->node == b->node &&
	       a->count <= UINT32_MAX - b->count;
}

static void insertion_sort(struct page_entry *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct page_entry e = v[i];
		size_t at = i;

		for (; at && by_time(&v[at - 1], &e) > 0; at--)
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
		v[at++] = by_time(&room[a], &v[b]) <= 0 ? room[a++] : v[b++];
	memcpy(v + at, room + a, (mid - a) * sizeof(*v));
}

/* Halves that are in order, as most are, cost no more than a look. */
static void merge_sort(struct page_entry *v, size_t nr, struct page_entry *room)
{
	size_t mid = nr / 2;

	if (nr <= FEW) {
		insertion_sort(v, nr);
		return;
	}
	merge_sort(v, mid, room);
	merge_sort(v + mid, nr - mid, room);
	if (by_time(&v[mid - 1], &v[mid]) > 0)
		merge_halves(v, mid, nr, room);
}

static void sort(struct page_samples *s, struct page_entry *v, size_t nr)
{
	if (array_reserve(&s->room, &s->cap_room, nr / 2))
		qsort(v, nr, sizeof(*v), by_time);
	else
		merge_sort(v, nr, s->room);
}

/* The entries of one tick, if ticks ascend; all of them, if they do not. */
static size_t tick_end(const struct page_row *row, size_t begin, bool ascends)
{
	size_t end = begin + 1;

	if (!ascends)
		return row->nr;
	while (end < row->nr && row->v[end].tick == row->v[begin].tick)
		end++;
	return end;
}

/* The entries of a thread come nearly always in the order of time, so only ticks are sorted. */
static void sort_row(struct page_samples *s, struct page_row *row)
{
	bool ascends = true;

	for (size_t i = 1; i < row->nr && ascends; i++)
		ascends = row->v[i - 1].tick <= row->v[i].tick;
	for (size_t i = 0, end; i < row->nr; i = end) {
		end = tick_end(row, i, ascends);
		if (end > i + 1)
			sort(s, row->v + i, end - i);
	}
}

static void join(struct page_entry *to, const struct page_entry *from)
{
	to->weight = weight_sum(to->weight, from->weight);
	to->count += from->count;
}

/* Entries that are alike stand beside each other when they are sorted. */
static void merge_row(struct page_samples *s, struct page_row *row)
{
	size_t nr = 0;

	sort_row(s, row);
	for (size_t i = 0; i < row->nr; i++) {
		if (nr && is_like(&row->v[nr - 1], &row->v[i]))
			join(&row->v[nr - 1], &row->v[i]);
		else
			row->v[nr++] = row->v[i];
	}
	row->nr = nr;
}

static void merge(struct page_samples *s)
{
	s->nr = 0;
	for (size_t i = 0; i < s->nr_rows; i++) {
		merge_row(s, &s->rows[i]);
		s->nr += s->rows[i].nr;
		if (s->rows[i].nr)
			s->last = i;
	}
}

static void coarsen(struct page_samples *s, unsigned shift)
{
	struct page_row *row;
	struct page_entry *e;

	s->tick_ns = weight_times(s->tick_ns, 1u << shift);
	s->coarser++;
	page_samples_each(s, row, e)
		e->tick >>= shift;
	merge(s);
}

/* There may be many threads with few entries, so the first room is small. */
static struct page_entry *push(struct page_row *row)
{
	if (row->nr == row->cap) {
		size_t cap = row->cap + row->cap / (row->cap < LARGE ? 2 : 8) + 4;
		struct page_entry *v = realloc(row->v, cap * sizeof(*v));

		if (!v)
			return NULL;
		row->v = v;
		row->cap = cap;
	}
	return &row->v[row->nr++];
}

/*
 * Puts the entries that wait into their rows. With thousands of threads, each is of another row
 * than the one before, so that the next ones are fetched meanwhile.
 */
static int settle(struct page_samples *s)
{
	size_t nr = s->nr_waiting;

	s->nr_waiting = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct page_row *next = i + AHEAD < nr
						      ? &s->rows[s->waiting[i + AHEAD].thread]
						      : NULL;
		struct page_entry *slot = push(&s->rows[s->waiting[i].thread]);

		if (next && next->v)
			__builtin_prefetch(next->v + next->nr, 1);
		if (!slot)
			return -ENOMEM;
		*slot = s->waiting[i];
	}
	return 0;
}

/* In the end all ticks are one; then only the number of threads and stacks is left. */
static int make_room(struct page_samples *s)
{
	size_t before = s->nr;

	if (settle(s))
		return -ENOMEM;
	merge(s);
	while (s->nr > PAGE_MAX_ENTRIES / 4 * 3 && s->coarser < COARSEST) {
		bool is_vain = s->nr > before / 100 * 97;

		before = s->nr;
		coarsen(s, is_vain ? MUCH_COARSER : COARSER);
	}
	return 0;
}

static struct page_entry *last_entry(const struct page_samples *s)
{
	const struct page_row *row = s->nr ? &s->rows[s->last] : NULL;

	if (s->nr_waiting)
		return &s->waiting[s->nr_waiting - 1];
	return row ? &row->v[row->nr - 1] : NULL;
}

/* Makes room for one entry more that waits, and for the row of its thread. */
static int reserve(struct page_samples *s, uint32_t thread)
{
	if (!s->waiting)
		s->waiting = malloc(WAITING * sizeof(*s->waiting));
	if (!s->waiting || array_reserve(&s->rows, &s->cap_rows, (size_t)thread + 1))
		return -ENOMEM;
	if (s->nr_rows <= thread)
		s->nr_rows = (size_t)thread + 1;
	return s->nr_waiting == WAITING ? settle(s) : 0;
}

int page_samples_add(struct page_samples *s, const struct page_entry *e)
{
	struct page_entry entry = *e, *last;

	if (s->nr >= PAGE_MAX_ENTRIES && s->coarser < COARSEST && make_room(s))
		return -ENOMEM;
	entry.tick /= s->tick_ns;
	last = last_entry(s);
	if (last && is_like(last, &entry)) {
		join(last, &entry);
		return 0;
	}
	if (reserve(s, entry.thread))
		return -ENOMEM;
	s->waiting[s->nr_waiting++] = entry;
	s->last = entry.thread;
	s->nr++;
	return 0;
}

int page_samples_end(struct page_samples *s)
{
	int err = settle(s);

	if (!err)
		merge(s);
	free(s->room);
	free(s->waiting);
	s->room = s->waiting = NULL;
	s->cap_room = 0;
	return err;
}
