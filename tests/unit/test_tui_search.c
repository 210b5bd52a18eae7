/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/profile/profile.h"
#include "src/profile/tree_builder.h"

/* A tree of stacks "a;b;c", each of weight 1. */
static struct profile *tree_of(const char *const *stacks, size_t nr)
{
	struct tree_builder b;
	struct profile *p;

	assert_int_equal(tree_builder_init(&b), 0);
	for (size_t i = 0; i < nr; i++) {
		const char *s = stacks[i];
		uint32_t at = 0;

		for (size_t len; *s; s += len + (s[len] == ';')) {
			struct node key = { .kind = FRAME_USER };

			len = strcspn(s, ";");
			key.name = tree_builder_name(&b, s, len);
			at = tree_builder_child(&b, at, &key);
		}
		tree_builder_add(&b, at, 1, 1);
	}
	p = tree_builder_take(&b);
	assert_non_null(p);
	tree_builder_release(&b);
	return p;
}

static const char *const stacks[] = {
	"main;read_file;read", "main;read_file;parse;read_token", "main;operator*(Vec, Vec);mul", "main;a.b;x", "main;aXb;x", "other;sleep",
};

static void search(struct tui_search *s, const struct profile *p, const char *text)
{
	snprintf(s->text, sizeof(s->text), "%s", text);
	tui_search_run(s, p);
}

/* The outermost node with the name has the weight of those in it, and counts once. */
static void weights_are_of_stacks_that_have_it(void **state)
{
	static const struct { const char *text; uint64_t covered; uint32_t found; } v[] = {
		{ "read", 2, 1 },		/* read_file has read and read_token in it */
		{ "^read$", 1, 1 },
		{ "^x$", 2, 2 },
		{ "main|other", 6, 2 },
		{ "a.b", 1, 1 },		/* the name of a function, and not an expression that finds aXb, too */
		{ "a[.X]b", 2, 2 },
		{ "operator*(Vec, Vec)", 1, 1 },	/* the same */
		{ "parse(", 0, 0 },		/* no expression: a text, which no name has */
		{ "none of them", 0, 0 },
		{ "", 0, 0 },
	};
	struct profile *p = tree_of(stacks, sizeof(stacks) / sizeof(stacks[0]));
	struct tui_search s = { .names = NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		search(&s, p, v[i].text);
		if (s.names) {
			assert_int_equal(s.covered, v[i].covered);
			assert_int_equal(s.found, v[i].found);
		} else {
			assert_string_equal(v[i].text, "");
		}
	}
	tui_search_clear(&s);
	assert_null(s.names);
	assert_string_equal(s.text, "");
	profile_free(p);
}

static void names_that_are_found_are_marked(void **state)
{
	struct profile *p = tree_of(stacks, sizeof(stacks) / sizeof(stacks[0]));
	struct tui_search s = { .names = NULL };

	(void)state;
	search(&s, p, "^m");
	for (size_t i = 1; i < p->nr_nodes; i++) {
		const char *name = profile_name(p, p->nodes[i].name);

		assert_int_equal(tui_search_has(&s, p->nodes[i].name), *name == 'm');
	}
	/* Without a tree nothing is found, and nothing is asked of the one before. */
	tui_search_run(&s, NULL);
	assert_false(tui_search_has(&s, 0));
	tui_search_clear(&s);
	profile_free(p);
}

/* An expression that would take for ever gives the name up. */
static void an_endless_expression_ends(void **state)
{
	const char *const name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
	struct profile *p = tree_of(&name, 1);
	struct tui_search s = { .text = "(a+)+(a+)+(a+)+$" };
	struct tui_pattern *pattern = tui_pattern_new(&s, p);

	(void)state;
	assert_non_null(pattern);
	assert_false(tui_pattern_finds(pattern, name));
	assert_true(tui_pattern_finds(pattern, "aaa"));
	tui_pattern_free(pattern);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_of_stacks_that_have_it),
		cmocka_unit_test(names_that_are_found_are_marked),
		cmocka_unit_test(an_endless_expression_ends),
	};

	return cmocka_run_group_tests_name("tui_search", tests, NULL, NULL);
}
