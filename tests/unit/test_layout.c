/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/render/layout.h"
#include "tests/unit/tree.h"

static struct profile p;

static int setup(void **state)
{
	(void)state;
	tree_init(&p);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_release(&p);
	return 0;
}

static struct layout lay_out(double min_percent, size_t max_boxes)
{
	struct layout l;

	assert_int_equal(layout_init(&l, &p, min_percent, max_boxes), 0);
	return l;
}

/* Every box lies within its parent's, right of its elder siblings. */
static void check_nesting(const struct layout *l)
{
	uint64_t *x = calloc(p.nr_nodes, sizeof(*x));
	bool *has = calloc(p.nr_nodes, sizeof(*has));
	uint64_t *end = calloc(p.nr_nodes, sizeof(*end));

	assert_true(x && has && end);
	for (size_t i = 0; i < l->nr; i++) {
		const struct node *nd = &p.nodes[l->v[i].node];

		x[l->v[i].node] = end[l->v[i].node] = l->v[i].x;
		has[l->v[i].node] = true;
		if (nd->parent == NODE_NONE)
			continue;
		assert_true(has[nd->parent]);
		assert_true(l->v[i].x >= end[nd->parent]);
		end[nd->parent] = l->v[i].x + nd->total;
		assert_true(end[nd->parent] <= x[nd->parent] + p.nodes[nd->parent].total);
	}
	free(x);
	free(has);
	free(end);
}

static void places_exactly(void **state)
{
	static const struct { const char *name; uint64_t x, w; } want[] = {
		{ "all", 0, 10 }, { "a", 0, 6 }, { "b", 0, 3 }, { "c", 3, 2 }, { "d", 6, 4 }, { "e", 6, 1 },
	};
	struct layout l;

	(void)state;
	tree_add(&p, "a;c 2");
	tree_add(&p, "a;b 3");
	tree_add(&p, "a 1");
	tree_add(&p, "d;e 1");
	tree_add(&p, "d 3");
	l = lay_out(0, LAYOUT_MAX_BOXES);
	assert_int_equal(l.nr, 6);
	assert_int_equal(l.rows, 3);
	assert_int_equal(l.total, 10);
	assert_int_equal(l.hidden, 0);
	for (size_t i = 0; i < l.nr; i++) {
		const struct node *nd = &p.nodes[l.v[i].node];

		assert_string_equal(intern_get(p.names, nd->name, NULL), want[i].name);
		assert_int_equal(l.v[i].x, want[i].x);
		assert_int_equal(nd->total, want[i].w);
	}
	layout_release(&l);
}

static void leaves_out_narrow_ones(void **state)
{
	struct layout l;

	(void)state;
	tree_add(&p, "a 11998");
	tree_add(&p, "b;x 1");
	tree_add(&p, "c 1");
	l = lay_out(0, LAYOUT_MAX_BOXES);
	assert_int_equal(l.nr, 5);	/* 1 of 12,000 is just 0.1 px */
	layout_release(&l);

	tree_add(&p, "a 1");
	l = lay_out(0, LAYOUT_MAX_BOXES);
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.hidden, 3);
	assert_int_equal(l.hidden_weight, 2);	/* b and c; x is part of b */
	assert_int_equal(l.total, 12001);
	layout_release(&l);
}

/* What stays does not move when something left of it goes. */
static void hiding_moves_nothing(void **state)
{
	struct layout l;

	(void)state;
	tree_add(&p, "a;small;smaller 10");
	tree_add(&p, "a;wide 85");
	tree_add(&p, "b 5");
	l = lay_out(20, LAYOUT_MAX_BOXES);
	assert_int_equal(l.nr, 3);
	assert_int_equal(l.v[2].x, 10);
	assert_int_equal(l.rows, 3);
	assert_int_equal(l.hidden, 3);
	layout_release(&l);
	l = lay_out(100, LAYOUT_MAX_BOXES);
	assert_int_equal(l.nr, 1);
	layout_release(&l);
}

static void keeps_the_most_important(void **state)
{
	struct layout l;
	uint32_t n = 0;

	(void)state;
	for (int i = 0; i < 50; i++)	/* equal weights: the deepest must go */
		n = tree_child(&p, n, "deep", 4);
	tree_weigh(&p, n, 100);
	tree_add(&p, "other 1");
	l = lay_out(0, 20);
	assert_int_equal(l.nr, 20);
	assert_int_equal(l.rows, 20);
	assert_int_equal(l.hidden, 32);
	check_nesting(&l);
	layout_release(&l);
}

static void nothing_gives_nothing(void **state)
{
	struct layout l = lay_out(0, LAYOUT_MAX_BOXES);

	(void)state;
	assert_int_equal(l.nr, 0);
	assert_int_equal(l.rows, 0);
	layout_release(&l);
}

static void goes_deep(void **state)
{
	struct layout l;
	uint32_t n = 0;

	(void)state;
	for (int i = 0; i < 60000; i++)
		n = tree_node(&p, n, 1);
	for (uint32_t i = 0; i < n; i++)
		p.nodes[i].first_child = i + 1;
	tree_weigh(&p, n, UINT64_MAX);
	l = lay_out(0, 300000);
	assert_int_equal(l.nr, 60001);
	assert_int_equal(l.rows, 60001);
	layout_release(&l);
}

static void random_trees_nest(void **state)
{
	uint64_t seed = 7;
	char name[16];
	struct layout l;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint32_t n = 0;

		for (int depth = 0; depth < 20; depth++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			snprintf(name, sizeof(name), "f%u", (unsigned)(seed >> 62));
			n = tree_child(&p, n, name, strlen(name));
			if (seed >> 32 & 1)
				tree_weigh(&p, n, seed >> 40 & 0xff);
		}
	}
	for (size_t max = 1; max < p.nr_nodes; max *= 3) {
		l = lay_out(0, max);
		assert_true(l.nr <= max);
		check_nesting(&l);
		layout_release(&l);
	}
}

static void shares_do_not_overflow(void **state)
{
	(void)state;
	assert_int_equal(layout_share(UINT64_MAX, UINT64_MAX, 1000000), 1000000);
	assert_int_equal(layout_share(UINT64_MAX / 2, UINT64_MAX, 1000000), 499999);
	assert_int_equal(layout_share(1, 3, 1000000), 333333);
	assert_int_equal(layout_share(1, 0, 1000000), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(places_exactly), TEST(leaves_out_narrow_ones), TEST(hiding_moves_nothing),
		TEST(keeps_the_most_important), TEST(nothing_gives_nothing), TEST(goes_deep),
		TEST(random_trees_nest), TEST(shares_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
