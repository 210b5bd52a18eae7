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

struct taken {
	uint32_t first, nr;
};

static void mark(bool *used, struct taken t, bool value)
{
	for (uint32_t i = t.first; i < t.first + t.nr; i++) {
		assert_int_equal(used[i], !value);
		used[i] = value;
	}
}

/* Against an array of flags: nothing is handed out twice, nothing crosses a boundary, nothing is lost. */
static void test_random(void **state)
{
	struct extents e = { .boundary = BOUNDARY };
	struct taken taken[UNITS];
	bool used[UNITS] = { false };
	size_t nr = 0;

	(void)state;
	srand(1);
	for (uint32_t i = 0; i < UNITS; i += BOUNDARY)
		extents_give(&e, i, BOUNDARY);
	for (int turn = 0; turn < 20000; turn++) {
		struct taken t = { .nr = 1 + (uint32_t)rand() % 20 };

		if (rand() % 2 && !extents_take(&e, t.nr, &t.first)) {
			assert_true(t.first + t.nr <= UNITS);
			assert_int_equal(t.first / BOUNDARY, (t.first + t.nr - 1) / BOUNDARY);
			mark(used, t, true);
			taken[nr++] = t;
		} else if (nr) {
			size_t i = (size_t)rand() % nr;

			mark(used, taken[i], false);
			assert_int_equal(extents_give(&e, taken[i].first, taken[i].nr), 0);
			taken[i] = taken[--nr];
		}
	}
	while (nr--)
		extents_give(&e, taken[nr].first, taken[nr].nr);
	assert_int_equal(e.nr, UNITS / BOUNDARY);
	assert_int_equal(e.nr_free, UNITS);
	extents_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_fit),
		cmocka_unit_test(test_neighbours_join),
		cmocka_unit_test(test_boundary),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
