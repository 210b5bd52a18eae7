/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/base/extents.h"

#define UNITS 512
#define BOUNDARY 64
#define TURNS 4000

static void test_first_fit(void **state)
{
	struct extents e = { 0 };
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(extents_take(&e, 1, &a), -ENOSPC);
	assert_int_equal(extents_give(&e, 100, 50), 0);
	assert_int_equal(extents_take(&e, 20, &a), 0);
	assert_int_equal(extents_take(&e, 20, &b), 0);
	assert_int_equal(a, 100);
	assert_int_equal(b, 120);
	assert_int_equal(extents_take(&e, 11, &c), -ENOSPC);
	assert_int_equal(extents_give(&e, a, 20), 0);
	assert_int_equal(extents_take(&e, 15, &c), 0);
	assert_int_equal(c, 100);
	assert_int_equal(e.nr_free, 15);
	extents_release(&e);
}

static void test_neighbours_join(void **state)
{
	struct extents e = { 0 };
	uint32_t a;

	(void)state;
	extents_give(&e, 0, 10);
	extents_give(&e, 20, 10);
	assert_int_equal(e.nr, 2);
	extents_give(&e, 10, 10);
	assert_int_equal(e.nr, 1);
	assert_int_equal(extents_take(&e, 30, &a), 0);
	assert_int_equal(a, 0);
	assert_int_equal(e.nr, 0);
	extents_release(&e);
}

static void test_boundary(void **state)
{
	struct extents e = { .boundary = BOUNDARY };
	uint32_t a;

	(void)state;
	extents_give(&e, 0, BOUNDARY);
	extents_give(&e, BOUNDARY, BOUNDARY);
	assert_int_equal(e.nr, 2);
	assert_int_equal(extents_take(&e, BOUNDARY + 1, &a), -ENOSPC);
	assert_int_equal(extents_take(&e, 1, &a), 0);
	extents_give(&e, 0, 1);
	assert_int_equal(e.v[0].nr, BOUNDARY);
	extents_release(&e);
}

/* What has no mappings or no pages takes no room, so it leaves no trace in the list either. */
static void test_nothing_is_no_range(void **state)
{
	struct extents e = { 0 };
	uint32_t none = 7, a;

	(void)state;
	assert_int_equal(extents_take(&e, 0, &none), 0);
	assert_int_equal(none, 0);
	assert_int_equal(extents_give(&e, 10, 10), 0);
	assert_int_equal(extents_take(&e, 0, &none), 0);
	assert_int_equal(none, 0);
	assert_int_equal(extents_take(&e, 5, &a), 0);
	assert_int_equal(extents_give(&e, a, 0), 0);
	assert_int_equal(e.nr, 1);
	assert_int_equal(e.nr_free, 5);
	assert_int_equal(extents_give(&e, a, 5), 0);
	assert_int_equal(e.nr, 1);
	assert_int_equal(e.nr_free, 10);
	extents_release(&e);
}

struct taken {
	uint32_t first, nr;
};

/* The same beside the real thing: a flag for each unit. */
struct model {
	struct extents e;
	bool is_free[UNITS];
	struct taken taken[UNITS];
	size_t nr;
	unsigned seed;
	int full;			/* how often there was no room */
};

static bool begins_range(const struct model *m, uint32_t i)
{
	return m->is_free[i] &&
	       (!i || !m->is_free[i - 1] || (m->e.boundary && !(i & (m->e.boundary - 1))));
}

static uint32_t range_len(const struct model *m, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < UNITS && m->is_free[end] && !begins_range(m, end))
		end++;
	return end - first;
}

/* The list says what the flags say: ascending ranges, none empty, and adjacent ones merged. */
static void assert_same(const struct model *m)
{
	uint64_t nr_free = 0;
	size_t nr = 0;

	for (uint32_t i = 0; i < UNITS; i++) {
		if (!begins_range(m, i))
			continue;
		assert_true(nr < m->e.nr);
		assert_int_equal(m->e.v[nr].first, i);
		assert_int_equal(m->e.v[nr].nr, range_len(m, i));
		nr_free += m->e.v[nr++].nr;
	}
	assert_int_equal(m->e.nr, nr);
	assert_int_equal(m->e.nr_free, nr_free);
}

/* Where a range of that length first fits; UNITS: nowhere. */
static uint32_t first_fit(const struct model *m, uint32_t nr)
{
	for (uint32_t i = 0; i < UNITS; i++)
		if (begins_range(m, i) && range_len(m, i) >= nr)
			return i;
	return UNITS;
}

static void mark(struct model *m, struct taken t, bool is_free)
{
	for (uint32_t i = t.first; i < t.first + t.nr; i++) {
		assert_int_equal(m->is_free[i], !is_free);
		m->is_free[i] = is_free;
	}
}

static void take(struct model *m)
{
	struct taken t = { .nr = (uint32_t)rand_r(&m->seed) % 20 };
	uint32_t want = t.nr ? first_fit(m, t.nr) : 0;
	int err = extents_take(&m->e, t.nr, &t.first);

	m->full += err != 0;
	assert_int_equal(err, want < UNITS ? 0 : -ENOSPC);
	if (err)
		return;
	assert_int_equal(t.first, want);
	mark(m, t, false);
	m->taken[m->nr++] = t;
}

static void give(struct model *m, size_t i)
{
	struct taken t = m->taken[i];

	m->taken[i] = m->taken[--m->nr];
	mark(m, t, true);
	assert_int_equal(extents_give(&m->e, t.first, t.nr), 0);
}

static void run_model(unsigned seed, uint32_t boundary)
{
	struct model m = { .e.boundary = boundary, .seed = seed };
	uint32_t step = boundary ? boundary : UNITS;

	for (uint32_t i = 0; i < UNITS; i += step) {
		mark(&m, (struct taken){ i, step }, true);
		assert_int_equal(extents_give(&m.e, i, step), 0);
	}
	for (int turn = 0; turn < TURNS; turn++) {
		bool gives = m.nr == UNITS || (m.nr && rand_r(&m.seed) % 20 < 9);

		if (gives)
			give(&m, (size_t)rand_r(&m.seed) % m.nr);
		else
			take(&m);
		assert_same(&m);
	}
	assert_true(m.full > TURNS / 100);
	while (m.nr)
		give(&m, m.nr - 1);
	assert_int_equal(m.e.nr, UNITS / step);
	assert_int_equal(m.e.nr_free, UNITS);
	extents_release(&m.e);
}

/* Nothing is handed out twice, nothing crosses a boundary, nothing is lost. */
static void test_random(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 8; seed++)
		run_model(seed, seed & 1 ? BOUNDARY : 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_fit),
		cmocka_unit_test(test_neighbours_join),
		cmocka_unit_test(test_boundary),
		cmocka_unit_test(test_nothing_is_no_range),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
