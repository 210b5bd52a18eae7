/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random tables come and go in a loader that has room for few, beside a model of what must be
 * there: each page that was placed holds its own rows, and no page belongs to two tables. What was
 * there at any moment of a scan stays as it is until the scan ends. At the end nothing is lost.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/clock.h"
#include "tests/unit/loader_world.h"

#define SEEDS 20
#define STEPS 3000
#define FILES 12			/* binaries 1 to 12; those up to WINDOWS are dropped, too */
#define WINDOWS 20
#define MANY_PAGES 30			/* binaries that take most of the room, */
#define MANY_RULES 31
#define FREE_PAGES 40			/* and what they leave */
#define FREE_RULES 60
#define FREE_ROWS 400
#define MAX_TABLE_PAGES 7
#define NR_RULES (UNWIND_MAX_RULES - 1 - FREE_RULES)
#define MAX_ROWS (NR_RULES + FREE_ROWS)
#define NONE 0
#define NEVER UINT32_MAX
#define FUTURE_NS (3600 * NSEC_PER_SEC)

struct placed_table {
	uint32_t id, page0, nr_pages;
	uint32_t serial[MAX_TABLE_PAGES];	/* of the contents of each page; 0: absent */
};

struct model {
	struct world *w;
	unsigned seed;
	uint32_t serial;
	struct placed_table tables[STEPS + 1];	/* all that ever were; tables[0] is not used */
	uint32_t nr_tables;
	uint32_t of[MAX_BINARIES];		/* index of tables, NONE or NEVER */
	struct placed_table left[STEPS];	/* those that were left during this scan */
	size_t nr_left;
	bool scans;
	uint64_t again, evicted[3];
	uint8_t used[UNWIND_MAX_PAGES];		/* scratch */
};

static const char *const limits[] = { "unwind rows", "unwind rules", "pages of unwind tables" };

static uint32_t any(struct model *m, uint32_t n)
{
	return (uint32_t)rand_r(&m->seed) % n;
}

static bool is_table(uint32_t of)
{
	return of != NONE && of != NEVER;
}

/* Binary b does not refer to what it had any more. */
static void leave(struct model *m, uint32_t b, uint32_t now)
{
	assert_true(m->nr_left < STEPS);
	if (is_table(m->of[b]) && m->scans)
		m->left[m->nr_left++] = m->tables[m->of[b]];
	m->of[b] = now;
}

static void on_random_evict(void *ctx, uint32_t binary, const char *what)
{
	struct model *m = ctx;

	if (binary <= WINDOWS)
		assert_true(is_table(m->of[binary]));
	leave(m, binary, NONE);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		m->evicted[i] += !strcmp(what, limits[i]);
}

/* ---- contents ---- */

static uint32_t rows_of(uint32_t serial, uint32_t page)
{
	return (serial * 7 + page * 13) % 60;
}

static int32_t offset_of(uint32_t serial, uint32_t page, uint32_t row)
{
	return (int32_t)(serial * 8 + (page * 3 + row) % 5);
}

/* Pages that are not in present are absent. */
static struct unwind_table *make_pages(uint32_t serial, uint32_t nr_pages, uint32_t present)
{
	struct unwind_part *part;

	assert_int_equal(unwind_part_begin(LO, nr_pages, &part), 0);
	for (uint32_t page = 0; page < nr_pages && page < MAX_TABLE_PAGES; page++) {
		struct cfi_row v[64];
		struct cfi_rows rows = { .v = v, .nr = rows_of(serial, page) };

		for (uint32_t i = 0; i < rows.nr; i++)
			v[i] = (struct cfi_row){ LO + page * PAGE + i * 16ull,
						 { .cfa = CFA_SP,
						   .cfa_off = offset_of(serial, page, i) } };
		if (present & 1u << page)
			assert_int_equal(unwind_part_add(part, &rows, page, 1), 0);
	}
	return unwind_part_end(part);
}

static void assert_page(struct model *m, struct unwind_page page, uint32_t serial, uint32_t index)
{
	const struct unwind_row *rows;

	assert_int_equal(page.nr, rows_of(serial, index));
	rows = page.nr ? unwind_loader_rows(m->w->l, page.first, page.nr) : NULL;
	for (uint32_t i = 0; i < page.nr; i++) {
		const struct unwind_row *row = &rows[(page.first & (UNWIND_SLAB_ROWS - 1)) + i];

		assert_int_equal(row->pc_lo, i * 16);
		assert_int_equal(m->w->view.rules[row->rule].cfa_off, offset_of(serial, index, i));
	}
}

/* No page is another table's, too. */
static void assert_is_own(struct model *m, const struct placed_table *t)
{
	for (uint32_t i = 0; i < t->nr_pages; i++) {
		uint8_t *used = &m->used[t->page0 + i];

		assert_true(t->page0 + i >= UNWIND_VERSIONS && t->page0 + i < UNWIND_MAX_PAGES);
		assert_true(!*used || *used == (uint8_t)(t->id % 255 + 1));
		*used = (uint8_t)(t->id % 255 + 1);
	}
}

static void assert_table(struct model *m, const struct placed_table *t, bool is_left)
{
	assert_is_own(m, t);
	for (uint32_t i = 0; i < t->nr_pages && i < MAX_TABLE_PAGES; i++) {
		struct unwind_page page = m->w->view.pages[t->page0 + i];

		if (t->serial[i])
			assert_page(m, page, t->serial[i], i);
		else if (!is_left)
			assert_int_equal(page.first, UNWIND_PAGE_ABSENT);
	}
}

static void assert_as_modelled(struct model *m)
{
	for (uint32_t b = 1; b <= WINDOWS; b++) {
		struct unwind_binary is = place_at(m->w, b);
		struct placed_table *t = is_table(m->of[b]) ? &m->tables[m->of[b]] : NULL;

		assert_int_equal(is.nr_pages, t ? t->nr_pages : 0);
		assert_int_equal(is.page0, t			? t->page0
					   : m->of[b] == NEVER ? UNWIND_TABLE_NEVER
							       : 0);
		if (t)
			assert_table(m, t, false);
	}
	for (size_t i = 0; i < m->nr_left; i++)
		assert_table(m, &m->left[i], true);
	memset(m->used, 0, sizeof(m->used));
}

/* ---- steps ---- */

/* Pages that are there now, and were not before. */
static void note_pages(struct model *m, struct placed_table *t, uint32_t present)
{
	for (uint32_t i = 0; i < t->nr_pages; i++)
		if (!t->serial[i] && present & 1u << i &&
		    m->w->view.pages[t->page0 + i].first != UNWIND_PAGE_ABSENT)
			t->serial[i] = m->serial;
}

static void note_table(struct model *m, uint32_t b, uint32_t nr_pages)
{
	struct placed_table *t;

	if (is_table(m->of[b]) && m->tables[m->of[b]].nr_pages == nr_pages)
		return;
	leave(m, b, nr_pages ? ++m->nr_tables : NEVER);
	if (!nr_pages)
		return;
	t = &m->tables[m->nr_tables];
	*t = (struct placed_table){ m->nr_tables, place_at(m->w, b).page0, nr_pages, { 0 } };
}

static void load(struct model *m, uint32_t b, uint32_t nr_pages)
{
	uint32_t present = any(m, 1u << MAX_TABLE_PAGES) | any(m, 2) * ((1u << MAX_TABLE_PAGES) - 1);
	struct unwind_table *t = make_pages(++m->serial, nr_pages, present);
	int err = unwind_loader_table(m->w->l, b, t);

	assert_true(!err || err == -EAGAIN || err == -ENOSPC);
	m->again += err == -EAGAIN;
	if (!err)
		note_table(m, b, nr_pages);
	if (is_table(m->of[b]) && m->tables[m->of[b]].nr_pages == nr_pages)
		note_pages(m, &m->tables[m->of[b]], present);
	unwind_table_free(t);
}

static void load_any(struct model *m)
{
	load(m, 1 + any(m, WINDOWS), any(m, 4) ? 1 + any(m, 2) : any(m, MAX_TABLE_PAGES + 1));
}

static void drop_any(struct model *m)
{
	uint32_t b = FILES + 1 + any(m, WINDOWS - FILES);

	unwind_loader_drop(m->w->l, b);
	leave(m, b, NONE);
}

/* As windows are read again. */
static void replace_any(struct model *m)
{
	uint32_t b = FILES + 1 + any(m, WINDOWS - FILES);

	unwind_loader_drop(m->w->l, b);
	leave(m, b, NONE);
	load(m, b, any(m, 2));
}

static void share_any(struct model *m)
{
	uint32_t b = 1 + any(m, FILES), other = 1 + any(m, FILES);

	unwind_loader_same(m->w->l, b, other);
	leave(m, b, m->of[other]);
}

static void need_any(struct model *m)
{
	uint32_t b = 1 + any(m, WINDOWS);

	unwind_loader_touch(m->w->l, b, now_ns());
	unwind_loader_wanted(m->w->l, b);
}

static void scan_or_end(struct model *m)
{
	m->scans = !m->scans;
	m->nr_left = 0;
	unwind_loader_iterating(m->w->l, m->scans);
}

static void (*const steps[])(struct model *) = {
	load_any, load_any, load_any, load_any, drop_any, replace_any, replace_any,
	share_any, need_any, scan_or_end,
};

/* Takes most of the room again, if it was thrown out. */
static void fill(struct model *m)
{
	uint32_t pages = UNWIND_MAX_PAGES - UNWIND_VERSIONS - FREE_PAGES -
			 (uint32_t)((NR_RULES * 16 + PAGE - 1) / PAGE);
	struct world *w = m->w;

	for (uint32_t b = MANY_PAGES; b <= MANY_RULES; b++) {
		struct unwind_table *t;

		if (place_at(w, b).nr_pages)
			continue;
		t = b == MANY_PAGES ? make_pages(0, pages, 0) : make_table(1, NR_RULES, 16, NR_RULES);
		unwind_loader_table(w->l, b, t);
		unwind_table_free(t);
		unwind_loader_touch(w->l, b, now_ns() + FUTURE_NS);
	}
}

/* Throws all out for a table of everything, twice: of all pages, and of all rows. */
static void assert_nothing_is_lost(struct model *m)
{
	struct unwind_table *all[] = { make_pages(0, UNWIND_MAX_PAGES - UNWIND_VERSIONS, 0),
				       make_table(1, MAX_ROWS, 16, NR_RULES + FREE_RULES) };
	struct unwind_loader_stats s;

	for (size_t i = 0; i < 2; i++) {
		int err = -EAGAIN;

		/* More than any other, so that no room is promised to another. */
		for (int times = 0; times <= STEPS; times++)
			unwind_loader_wanted(m->w->l, MANY_PAGES);
		for (int turn = 0; turn < 8 && err == -EAGAIN; turn++)
			err = unwind_loader_table(m->w->l, MANY_PAGES, all[i]);
		assert_int_equal(err, 0);
		unwind_loader_stats(m->w->l, &s);
		assert_int_equal(s.binaries, 1);
		assert_int_equal(s.pages, all[i]->nr_pages);
		assert_int_equal(s.rows, all[i]->nr_rows);
		assert_int_equal(s.rules, i ? UNWIND_MAX_RULES : 1);
		unwind_table_free(all[i]);
	}
}

static void run(void **state, unsigned seed, uint64_t *seen)
{
	struct model *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	setup(state);
	m->w = *state;
	m->seed = seed;
	m->w->opts.epoch_ns = 1;
	m->w->opts.on_evict = on_random_evict;
	m->w->opts.ctx = m;
	open_loader(m->w, MAX_ROWS);
	for (int step = 0; step < STEPS; step++) {
		fill(m);
		assert_as_modelled(m);
		steps[any(m, sizeof(steps) / sizeof(*steps))](m);
		assert_as_modelled(m);
	}
	if (m->scans)
		scan_or_end(m);
	assert_nothing_is_lost(m);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		seen[i] += m->evicted[i];
	assert_true(m->again > STEPS / 100);
	teardown(state);
	free(m);
}

static void test_random(void **state)
{
	uint64_t seen[3] = { 0 };

	for (unsigned seed = 1; seed <= SEEDS; seed++)
		run(state, seed, seen);
	/* Each kind of room has been short. */
	for (size_t i = 0; i < 3; i++)
		assert_true(seen[i] > SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
