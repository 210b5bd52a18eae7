/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/live/live_windows.h"

#define SEC LIVE_WINDOW_NS

static uint64_t sum_of(const struct live_windows *w, uint32_t id, bool weight)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->nr; i++)
		for (size_t k = 0; k < w->v[i].nr; k++)
			if (w->v[i].v[k].id == id)
				sum += weight ? w->v[i].v[k].weight : w->v[i].v[k].samples;
	return sum;
}

/* Windows do not overlap, and the older ones are the longer ones. */
static void check_order(const struct live_windows *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		assert_true(w->v[i].begin_ns < w->v[i].end_ns);
		if (!i)
			continue;
		assert_true(w->v[i - 1].end_ns <= w->v[i].begin_ns);
		assert_true(w->v[i - 1].level >= w->v[i].level);
	}
}

static void test_equal_samples_are_one_entry(void **state)
{
	struct live_windows w = { .nr = 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(live_windows_add(&w, 5 * SEC + (uint64_t)i, 3, 1, 7), 0);
	assert_int_equal(w.nr, 1);
	assert_int_equal(w.v[0].begin_ns, 5 * SEC);
	assert_int_equal(w.v[0].end_ns, 6 * SEC);
	assert_int_equal(w.v[0].nr, 1);
	assert_int_equal(w.v[0].v[0].samples, 10);
	assert_int_equal(w.v[0].v[0].weight, 70);
	assert_int_equal(live_windows_add(&w, 6 * SEC, 3, 1, 7), 0);
	assert_int_equal(w.nr, 2);
	live_windows_release(&w);
	assert_null(w.v);
}

/* A day of two counts, one in each second and one in each minute: nothing is lost, and little is kept. */
static void test_a_day(void **state)
{
	struct live_windows w = { .nr = 0 };
	const uint64_t day = 86400;
	size_t entries = 0, recent = 0;

	(void)state;
	for (uint64_t s = 0; s < day; s++) {
		assert_int_equal(live_windows_add(&w, 1000 * SEC + s * SEC, 1, 2, 10), 0);
		if (s % 60 == 0)
			assert_int_equal(live_windows_add(&w, 1000 * SEC + s * SEC, 2, 1, 5), 0);
	}
	check_order(&w);
	assert_int_equal(sum_of(&w, 1, false), 2 * day);
	assert_int_equal(sum_of(&w, 1, true), 10 * day);
	assert_int_equal(sum_of(&w, 2, true), 5 * day / 60);
	assert_int_equal(w.v[0].begin_ns, 1000 * SEC);
	for (size_t i = 0; i < w.nr; i++) {
		entries += w.v[i].nr;
		assert_true(w.v[i].nr <= 2);
		recent += w.v[i].end_ns - w.v[i].begin_ns == SEC;
	}
	assert_true(w.nr < 600);
	assert_true(entries < 1200);
	assert_true(recent >= 60);	/* the last minute by seconds */
	live_windows_release(&w);
}

static void test_late_and_lost_times(void **state)
{
	struct live_windows w = { .nr = 0 };

	(void)state;
	assert_int_equal(live_windows_add(&w, 100 * SEC, 1, 1, 1), 0);
	assert_int_equal(live_windows_add(&w, 200 * SEC, 1, 1, 1), 0);
	assert_int_equal(live_windows_add(&w, 100 * SEC + 5, 2, 1, 1), 0);	/* into its own window */
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.v[0].nr, 2);
	assert_int_equal(live_windows_add(&w, 150 * SEC, 3, 1, 1), 0);	/* between the two */
	assert_int_equal(live_windows_add(&w, 7, 4, 1, 1), 0);		/* before all */
	assert_int_equal(live_windows_add(&w, UINT64_MAX, 5, 1, 1), 0);	/* a trace may claim it */
	assert_int_equal(live_windows_add(&w, UINT64_MAX - 1, 5, 1, 1), 0);
	check_order(&w);
	for (uint32_t id = 2; id < 5; id++)
		assert_int_equal(sum_of(&w, id, false), 1);
	assert_int_equal(sum_of(&w, 5, false), 2);
	live_windows_release(&w);
}

struct rewrite {
	size_t windows;
	uint32_t add;
};

static int begin_window(void *ctx, const struct live_window *win, size_t index)
{
	struct rewrite *r = ctx;

	assert_int_equal(index, r->windows++);
	assert_true(win->nr > 0);
	return 0;
}

static uint32_t halve(void *ctx, const struct live_growth *g)
{
	return g->id / 2 + ((struct rewrite *)ctx)->add;
}

/* Counts that become one have one growth in each window, and the newest window goes on with the new ids. */
static void test_other_ids(void **state)
{
	struct live_windows w = { .nr = 0 };
	struct rewrite r = { .windows = 0 };
	const struct live_rewrite how = { begin_window, halve, &r };

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(live_windows_add(&w, i * SEC / 10, i % 10, 1, i % 10), 0);
	assert_int_equal(live_windows_rewrite(&w, &how), 0);
	assert_int_equal(r.windows, w.nr);
	check_order(&w);
	for (uint32_t id = 0; id < 5; id++) {
		assert_int_equal(sum_of(&w, id, false), 200);
		assert_int_equal(sum_of(&w, id, true), 100 * (4 * id + 1));
	}
	for (size_t i = 0; i < w.nr; i++)
		assert_int_equal(w.v[i].nr, 5);
	assert_int_equal(w.nr_growths, 5 * w.nr);
	assert_int_equal(live_windows_add(&w, 999 * SEC / 10, 4, 1, 1), 0);
	assert_int_equal(w.v[w.nr - 1].nr, 5);
	assert_int_equal(live_windows_add(&w, 999 * SEC / 10, 400, 1, 1), 0);
	assert_int_equal(w.v[w.nr - 1].nr, 6);
	assert_int_equal(w.nr_growths, 5 * w.nr + 1);
	live_windows_release(&w);
}

/* More samples than a growth has room for. */
static void test_many_samples(void **state)
{
	struct live_windows w = { .nr = 0 };
	struct rewrite r = { .add = 1 };
	const struct live_rewrite how = { NULL, halve, &r };

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(live_windows_add(&w, SEC, 1, UINT32_MAX - 1, UINT64_MAX / 4), 0);
	assert_int_equal(sum_of(&w, 1, false), 5 * (uint64_t)(UINT32_MAX - 1));
	assert_int_equal(live_windows_rewrite(&w, &how), 0);
	assert_int_equal(sum_of(&w, 1, false), 5 * (uint64_t)(UINT32_MAX - 1));
	for (uint64_t s = 2; s < 400; s++)
		assert_int_equal(live_windows_add(&w, s * SEC, 1, 1, 1), 0);
	assert_int_equal(sum_of(&w, 1, false), 5 * (uint64_t)(UINT32_MAX - 1) + 398);
	live_windows_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_samples_are_one_entry),
		cmocka_unit_test(test_a_day),
		cmocka_unit_test(test_late_and_lost_times),
		cmocka_unit_test(test_other_ids),
		cmocka_unit_test(test_many_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
