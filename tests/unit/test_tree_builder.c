/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "src/profile/tree_builder.h"

static uint32_t child(struct tree_builder *b, uint32_t parent, const char *name, struct node key)
{
	key.name = tree_builder_name(b, name, strlen(name));
	return tree_builder_child(b, parent, &key);
}

static const struct node *first(const struct profile *p, uint32_t n)
{
	assert_int_not_equal(p->nodes[n].first_child, NODE_NONE);
	return &p->nodes[p->nodes[n].first_child];
}

static void merges_what_is_equal_and_nothing_else(void **state)
{
	const struct node user = { .kind = FRAME_USER }, kernel = { .kind = FRAME_KERNEL };
	const struct node inlined = { .flags = NODE_INLINED }, guessed = { .flags = NODE_GUESSED };
	const struct node tier = { .flags = NODE_BASELINE };
	struct tree_builder b;
	struct profile *p;
	uint32_t a;

	(void)state;
	assert_int_equal(tree_builder_init(&b), 0);
	a = child(&b, 0, "a", user);
	assert_int_equal(child(&b, 0, "a", user), a);
	assert_int_equal(child(&b, 0, "a", guessed), a);
	assert_int_equal(child(&b, 0, "a", tier), a);
	assert_int_not_equal(child(&b, 0, "a", kernel), a);
	assert_int_not_equal(child(&b, 0, "a", inlined), a);
	assert_int_not_equal(child(&b, a, "a", user), a);
	p = tree_builder_take(&b);
	assert_non_null(p);
	assert_int_equal(p->nr_nodes, 5);
	assert_int_equal(p->nodes[a].flags, NODE_GUESSED | NODE_BASELINE);
	profile_free(p);
	tree_builder_release(&b);
}

static void sorts_children_and_sums_totals(void **state)
{
	static const char *const names[] = { "b", "a b", "aa", "\xff", "a", "B" };
	static const char *const sorted[] = { "B", "a", "a b", "aa", "b", "\xff" };
	const struct node key = { .kind = FRAME_USER };
	struct tree_builder b;
	struct profile *p;
	uint32_t at;

	(void)state;
	assert_int_equal(tree_builder_init(&b), 0);
	for (uint32_t i = 0; i < 6; i++)
		tree_builder_add(&b, child(&b, child(&b, 0, names[i], key), "leaf", key), i + 1, 1);
	tree_builder_add(&b, child(&b, 0, "b", key), 100, 3);
	p = tree_builder_take(&b);
	assert_non_null(p);
	at = p->nodes[0].first_child;
	for (int i = 0; i < 6; i++, at = p->nodes[at].next_sibling)
		assert_string_equal(profile_name(p, p->nodes[at].name), sorted[i]);
	assert_int_equal(at, NODE_NONE);
	assert_int_equal(p->nodes[0].total, 121);
	assert_int_equal(p->nodes[0].total_samples, 9);
	assert_int_equal(p->nodes[0].self_samples, 0);
	assert_int_equal(p->nodes[0].self, 0);
	assert_int_equal(first(p, 0)->total, 6);
	profile_free(p);
	tree_builder_release(&b);
}

static void weights_stop_at_the_limit(void **state)
{
	const struct node key = { .kind = FRAME_USER };
	struct tree_builder b;
	struct profile *p;
	uint32_t x, y;

	(void)state;
	assert_int_equal(tree_builder_init(&b), 0);
	x = child(&b, 0, "x", key);
	y = child(&b, x, "y", key);
	tree_builder_add(&b, x, UINT64_MAX - 2, 1);
	tree_builder_add(&b, y, 5, 1);
	tree_builder_add(&b, y, UINT64_MAX, 1);
	p = tree_builder_take(&b);
	assert_non_null(p);
	assert_true(p->nodes[x].self == UINT64_MAX - 2);
	assert_int_equal(p->nodes[y].total, 2);
	assert_true(p->nodes[0].total == UINT64_MAX);
	assert_int_equal(p->nodes[0].total_samples, 3);
	profile_free(p);
	tree_builder_release(&b);
}

/* Functions of one name in two files are two nodes; where the file is unknown, it may be any. */
static void tells_files_apart(void **state)
{
	struct tree_builder b;
	uint32_t x, y, f, g, n;

	(void)state;
	assert_int_equal(tree_builder_init(&b), 0);
	x = tree_builder_name(&b, "x.c", 3);
	y = tree_builder_name(&b, "y.c", 3);
	f = child(&b, 0, "f", (struct node){ .file = y, .line = 1 });
	g = child(&b, 0, "f", (struct node){ .file = x, .line = 9 });
	assert_int_not_equal(f, g);
	assert_int_equal(child(&b, 0, "f", (struct node){ .file = x, .line = 7 }), g);
	assert_int_equal(child(&b, 0, "f", (struct node){ .file = x, .line = 0 }), g);
	assert_int_equal(child(&b, 0, "f", (struct node){ .file = y, .line = 2 }), f);
	assert_int_equal(b.p->nodes[f].line, 1);
	assert_int_equal(b.p->nodes[g].line, 7);
	n = child(&b, 0, "g", (struct node){ .line = 3 });
	assert_int_equal(child(&b, 0, "g", (struct node){ .file = x, .line = 8 }), n);
	assert_int_equal(b.p->nodes[n].file, x);
	assert_int_equal(b.p->nodes[n].line, 8);
	assert_int_not_equal(child(&b, 0, "g", (struct node){ .file = y }), n);
	tree_builder_release(&b);
}

static void says_what_is_too_deep(void **state)
{
	const struct node key = { .kind = FRAME_USER };
	struct tree_builder b;
	struct profile *p;
	uint32_t at = 0;

	(void)state;
	assert_int_equal(tree_builder_init(&b), 0);
	b.max_depth = 4;
	for (int i = 0; i < 10; i++)
		at = child(&b, at, "f", key);
	tree_builder_add(&b, at, 5, 1);
	p = tree_builder_take(&b);
	assert_non_null(p);
	assert_int_equal(p->nr_nodes, 5);
	assert_int_equal(p->nodes[at].depth, 4);
	assert_string_equal(profile_name(p, p->nodes[at].name), "[deeper]");
	assert_int_equal(p->nodes[0].total, 5);
	profile_free(p);
	tree_builder_release(&b);
}

static void stays_small_and_loses_no_weight(void **state)
{
	const struct node key = { .kind = FRAME_USER };
	struct tree_builder b;
	struct profile *p;
	uint64_t self = 0;

	(void)state;
	assert_int_equal(tree_builder_init(&b), 0);
	b.max_nodes = 50;
	for (int i = 0; i < 1000; i++) {
		char name[16];
		uint32_t at;

		snprintf(name, sizeof(name), "f%d", i % 60);
		at = child(&b, 0, name, key);
		snprintf(name, sizeof(name), "g%d", i);
		tree_builder_add(&b, child(&b, at, name, key), 1, 1);
	}
	p = tree_builder_take(&b);
	assert_non_null(p);
	assert_true(p->nr_nodes <= 100);
	assert_int_equal(p->nodes[0].total, 1000);
	for (size_t i = 0; i < p->nr_nodes; i++)
		self += p->nodes[i].self;
	assert_int_equal(self, 1000);
	profile_free(p);
	tree_builder_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_what_is_equal_and_nothing_else),
		cmocka_unit_test(sorts_children_and_sums_totals),
		cmocka_unit_test(weights_stop_at_the_limit),
		cmocka_unit_test(tells_files_apart),
		cmocka_unit_test(says_what_is_too_deep),
		cmocka_unit_test(stays_small_and_loses_no_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
