/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/report/weight_text.h"

/* Shifts: a tick becomes twice as long, or eight times where nearly nothing was alike. */
#define COARSER 1
#define MUCH_COARSER 3
#define COARSEST 20			/* so often at most */
#define WAITING 4096
#define AHEAD 8				/* rows are fetched so many entries before */
#define LATE 4096			/* and a quarter of the entries */
#define FEW 64				/* the newest tick has so many unsorted ones at least */

void page_samples_init(struct page_samples *s, uint64_t tick_ns)
{
	*s = (struct page_samples){ .tick_ns = tick_ns ? tick_ns : 1 };
}

static void release_room(struct page_samples *s)
{
	page_entries_release(&s->late);
	page_entries_release(&s->group);
	free(s->waiting);
	free(s->next);
	s->waiting = NULL;
	s->next = NULL;
}

void page_samples_release(struct page_samples *s)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		page_row_release(&s->rows[i]);
	free(s->rows);
	release_room(s);
	memset(s, 0, sizeof(*s));
}

struct page_row_reader page_samples_read(const struct page_samples *s, size_t thread)
{
	return page_row_read(&s->rows[thread], (uint32_t)thread, s->usual);
}

struct page_row_reader page_samples_take(struct page_samples *s, size_t thread)
{
	return page_row_take(&s->rows[thread], (uint32_t)thread, s->usual);
}

/* ---- rows that are made again ---- */

/* Adds the group, which is newer than the row. */
static int add_group(struct page_samples *s, struct page_row *row)
{
	struct page_entries *l = &s->group;

	if (l->nr > 1)
		page_entries_sort(l);
	for (size_t i = 0; i < l->nr; i++)
		if (page_row_add(row, &l->v[i], s->usual))
			return -ENOMEM;
	row->nr_sorted = row->nr_open;
	return 0;
}

static int push(struct page_entries *l, const struct page_entry *e)
{
	if (l->nr == l->cap && page_entries_reserve(l, 1))
		return -ENOMEM;
	l->v[l->nr++] = *e;
	return 0;
}

/* Entries that are late. */
struct late {
	const struct page_entry *v;
	size_t nr;
};

/* Those that are of the tick, after the entries of l. */
static int push_late(struct page_entries *l, struct late *late, uint64_t tick)
{
	for (; late->nr && late->v->tick == tick; late->v++, late->nr--)
		if (push(l, late->v))
			return -ENOMEM;
	return 0;
}

static bool read_next(struct page_row_reader *r, unsigned shift, struct page_entry *e)
{
	if (!page_row_next(r, e))
		return false;
	e->tick >>= shift;
	return true;
}

/* Makes a row again, tick by tick: ticks become longer by shift, and late entries are sorted in. */
static int make_again(struct page_samples *s, uint32_t thread, unsigned shift, struct late late)
{
	struct page_row *row = &s->rows[thread];
	struct page_row_reader r = page_row_take(row, thread, s->usual);
	struct page_entry e;
	bool has = read_next(&r, shift, &e);
	int err = 0;

	while (!err && (has || late.nr)) {
		uint64_t tick = has ? e.tick : UINT64_MAX;

		tick = late.nr && late.v->tick < tick ? late.v->tick : tick;
		s->group.nr = 0;
		for (; !err && has && e.tick == tick; has = read_next(&r, shift, &e))
			err = push(&s->group, &e);
		if (!err)
			err = push_late(&s->group, &late, tick);
		if (!err)
			err = add_group(s, row);
	}
	page_row_drop(&r);
	return err;
}

static int sort_in_late(struct page_samples *s)
{
	struct page_entries *late = &s->late;
	int err = 0;

	page_entries_sort(late);
	for (size_t i = 0, end; !err && i < late->nr; i = end) {
		for (end = i + 1; end < late->nr && late->v[end].thread == late->v[i].thread;)
			end++;
		err = make_again(s, late->v[i].thread, 0,
				 (struct late){ late->v + i, end - i });
	}
	late->nr = 0;
	return err;
}

static int coarsen(struct page_samples *s, unsigned shift)
{
	int err = 0;

	s->tick_ns = weight_times(s->tick_ns, 1u << shift);
	s->coarser++;
	for (size_t i = 0; !err && i < s->nr_rows; i++)
		err = make_again(s, (uint32_t)i, shift, (struct late){ NULL, 0 });
	return err;
}

/* ---- those that wait ---- */

/* Gives each row the list of its entries that wait, in the order in which they came. */
static void list_waiting(struct page_samples *s)
{
	for (size_t i = s->nr_waiting; i-- > 0;) {
		struct page_row *row = &s->rows[s->waiting[i].thread];

		if (i >= AHEAD)
			__builtin_prefetch(&s->rows[s->waiting[i - AHEAD].thread], 1);
		s->next[i] = row->waiting;
		row->waiting = (uint32_t)i + 1;
	}
}

/*
 * Whether the newest tick is taken off, to be sorted with those that wait: it ends, or so many have
 * come that it pays.
 */
static bool is_reopened(const struct page_samples *s, const struct page_row *row)
{
	bool is_ended = false;
	uint32_t same = 0;

	for (uint32_t at = row->waiting; at; at = s->next[at - 1]) {
		same += s->waiting[at - 1].tick == row->tick;
		is_ended |= s->waiting[at - 1].tick > row->tick;
	}
	if (is_ended)
		return same || row->nr_sorted != row->nr_open;
	return same && row->nr_open + same > FEW + 2 * row->nr_sorted;
}

/* tick: the newest one of the row. What is of it may stand there unsorted as long as it is. */
static int settle_one(struct page_samples *s, struct page_row *row, const struct page_entry *e,
		      uint64_t tick)
{
	if (!row->nr || e->tick > row->tick)
		return push(&s->group, e);
	return e->tick < tick ? push(&s->late, e) : page_row_add(row, e, s->usual);
}

static int settle_row(struct page_samples *s, uint32_t thread)
{
	struct page_row *row = &s->rows[thread];
	uint64_t tick = row->tick;
	uint32_t at = row->waiting;
	int err = 0;

	s->group.nr = 0;
	if (is_reopened(s, row) && page_row_open(row, thread, s->usual, &s->group))
		return -ENOMEM;
	row->waiting = 0;
	for (; at && !err; at = s->next[at - 1])
		err = settle_one(s, row, &s->waiting[at - 1], tick);
	if (!err && s->group.nr)
		err = add_group(s, row);
	return err;
}

/*
 * Adds the entries that wait to their rows. With thousands of threads, each is of another row than
 * the one before, so that the next ones are fetched meanwhile.
 */
static int settle(struct page_samples *s)
{
	size_t nr = s->nr_waiting;
	int err = 0;

	list_waiting(s);
	s->nr_waiting = 0;
	for (size_t i = 0; !err && i < nr; i++) {
		uint32_t thread = s->waiting[i].thread;

		if (i + AHEAD < nr)
			__builtin_prefetch(s->rows[s->waiting[i + AHEAD].thread].open_at, 1);
		if (s->rows[thread].waiting)
			err = settle_row(s, thread);
	}
	if (!err && s->late.nr > LATE + s->nr / 4)
		err = sort_in_late(s);
	return err;
}

/* ---- all of them ---- */

static void count(struct page_samples *s)
{
	s->nr = 0;
	s->has_last = false;
	for (size_t i = 0; i < s->nr_rows; i++)
		s->nr += s->rows[i].nr;
}

/* Sorts the newest tick of each row. */
static int close_all(struct page_samples *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_rows; i++) {
		struct page_row *row = &s->rows[i];

		s->group.nr = 0;
		if (row->nr_sorted == row->nr_open)
			continue;
		err = page_row_open(row, (uint32_t)i, s->usual, &s->group);
		if (!err)
			err = add_group(s, row);
	}
	return err;
}

static int settle_all(struct page_samples *s)
{
	int err = settle(s);

	if (!err)
		err = sort_in_late(s);
	if (!err)
		err = close_all(s);
	count(s);
	return err;
}

/* A sample that is like the last entry of all does not become one more. */
static void find_last(struct page_samples *s)
{
	for (size_t i = s->nr_rows; i-- > 0 && !s->has_last;)
		s->has_last = page_row_last(&s->rows[i], (uint32_t)i, s->usual, &s->last);
}

/* In the end all ticks are one; then only the number of threads and stacks is left. */
static int make_room(struct page_samples *s)
{
	size_t before = s->nr;
	int err = settle_all(s);

	while (!err && s->nr > PAGE_MAX_ENTRIES / 4 * 3 && s->coarser < COARSEST) {
		bool is_vain = s->nr > before / 100 * 97;

		before = s->nr;
		err = coarsen(s, is_vain ? MUCH_COARSER : COARSER);
		count(s);
	}
	find_last(s);
	return err;
}

/* Makes room for one entry more that waits, and for the row of its thread. */
static int reserve(struct page_samples *s, uint32_t thread)
{
	if (!s->waiting)
		s->waiting = malloc(WAITING * sizeof(*s->waiting));
	if (!s->next)
		s->next = malloc(WAITING * sizeof(*s->next));
	if (!s->waiting || !s->next ||
	    array_reserve(&s->rows, &s->cap_rows, (size_t)thread + 1))
		return -ENOMEM;
	if (s->nr_rows <= thread)
		s->nr_rows = (size_t)thread + 1;
	return s->nr_waiting == WAITING ? settle(s) : 0;
}

int page_samples_add(struct page_samples *s, const struct page_entry *e)
{
	struct page_entry entry = *e, *last;
	bool is_new;

	if (s->nr >= PAGE_MAX_ENTRIES && s->coarser < COARSEST && make_room(s))
		return -ENOMEM;
	if (!s->nr)
		s->usual = e->weight;
	entry.tick /= s->tick_ns;
	last = s->nr_waiting ? &s->waiting[s->nr_waiting - 1] : s->has_last ? &s->last : NULL;
	is_new = !last || !page_entry_is_like(last, &entry);
	if (!is_new && s->nr_waiting) {
		page_entry_join(last, &entry);
		return 0;
	}
	if (reserve(s, entry.thread))
		return -ENOMEM;
	s->waiting[s->nr_waiting++] = entry;
	s->nr += is_new;
	return 0;
}

int page_samples_end(struct page_samples *s)
{
	int err = settle_all(s);

	release_room(s);
	return err;
}
