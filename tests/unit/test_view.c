/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/profile/tree_builder.h"
#include "src/profile/view.h"
#include "tests/unit/stderr_text.h"

/* Each line is a stack; names in brackets are levels, "!x" is a note. */
static const char *const stacks[] = { "[app]main;a;b 3",  "[app]main;b 2", "[db]main;c 1",
				      "[db]main;b;a;b;a 4", "[db]!note;x::b2 8" };

static char *text;

static uint32_t add_name(struct tree_builder *b, uint32_t at, const char *s, size_t len,
			 bool is_level)
{
	bool is_note = *s == '!';
	struct node key = { .name = tree_builder_name(b, s + is_note, len - is_note) };

	if (is_level || is_note)
		key.kind = FRAME_SYNTHETIC, key.flags = NODE_SYNTHETIC;
	key.is_level = is_level;
	return tree_builder_child(b, at, &key);
}

static struct profile *make_tree(void)
{
	struct tree_builder b;
	struct profile *p;

	assert_int_equal(tree_builder_init(&b), 0);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		const char *s = stacks[i] + 1, *end = strrchr(s, ' ');
		size_t len = strcspn(s, "]");
		uint32_t at = add_name(&b, 0, s, len, true);

		for (s += len + 1; s < end; s += len + 1) {
			len = strcspn(s, "; ");
			at = add_name(&b, at, s, len, false);
		}
		tree_builder_add(&b, at, strtoul(end, NULL, 10) * 10, strtoul(end, NULL, 10));
	}
	p = tree_builder_take(&b);
	assert_non_null(p);
	p->facts.host = profile_name(p, p->nodes[1].name);
	return p;
}

static void put_node(FILE *out, const struct profile *p, uint32_t n)
{
	const struct node *nd = &p->nodes[n];

	fprintf(out, "%s %llu", profile_name(p, nd->name), (unsigned long long)nd->total_samples);
	assert_int_equal(nd->total, nd->total_samples * 10);
	if (nd->first_child == NODE_NONE)
		return;
	fputs(" (", out);
	for (uint32_t c = nd->first_child; c != NODE_NONE; c = p->nodes[c].next_sibling) {
		put_node(out, p, c);
		fputs(p->nodes[c].next_sibling == NODE_NONE ? ")" : ", ", out);
	}
}

/* The view as "all 6 (b 5 (a 3), c 1)". */
static const char *seen(const struct view *v, uint64_t steps)
{
	const struct report_limits limits = { .steps = steps };
	struct profile *p = make_tree();
	size_t len;
	FILE *out;
	int err = view_apply(v, &limits, &p);

	free(text);
	text = NULL;
	out = open_memstream(&text, &len);
	assert_non_null(out);
	if (err)
		fprintf(out, "error %d", -err);
	else
		put_node(out, p, 0);
	fclose(out);
	assert_string_equal(p->facts.host, "app");	/* the names go with the tree */
	if (!err) {
		assert_int_equal(p->facts.weight, p->nodes[0].total);
		assert_int_equal(p->facts.is_inverted, v->inverted || v->callers);
	}
	profile_free(p);
	return text;
}

static void upside_down(void **state)
{
	(void)state;
	assert_string_equal(seen(&(struct view){ .inverted = true }, 0),
		"all 18 (a 4 (b 4 (a 4 (b 4 (main 4 (db 4))))), "
		"b 5 (a 3 (main 3 (app 3)), main 2 (app 2)), c 1 (main 1 (db 1)), "
		"x::b2 8 (note 8 (db 8)))");
	assert_string_equal(seen(&(struct view){ .inverted = true, .keeps_levels = true }, 0),
		"all 18 (app 5 (b 5 (a 3 (main 3), main 2)), "
		"db 13 (a 4 (b 4 (a 4 (b 4 (main 4)))), c 1 (main 1), x::b2 8 (note 8)))");
}

/* Of "b;a;b;a" the outermost b counts, so 4 samples and not 8. */
static void callers_of_one_function(void **state)
{
	(void)state;
	assert_string_equal(seen(&(struct view){ .callers = "b" }, 0),
		"all 9 (b 9 (a 3 (main 3 (app 3)), main 6 (app 2, db 4)))");
	assert_string_equal(seen(&(struct view){ .callers = "b", .keeps_levels = true }, 0),
		"all 9 (app 5 (b 5 (a 3 (main 3), main 2)), db 4 (b 4 (main 4)))");
}

static void callees_of_one_function(void **state)
{
	(void)state;
	assert_string_equal(seen(&(struct view){ .callees = "b" }, 0),
		"all 9 (b 9 (a 4 (b 4 (a 4))))");
	assert_string_equal(seen(&(struct view){ .callees = "a", .keeps_levels = true }, 0),
		"all 7 (app 3 (a 3 (b 3)), db 4 (a 4 (b 4 (a 4))))");
	assert_string_equal(seen(&(struct view){ .callees = "a", .inverted = true }, 0),
		"all 7 (a 4 (b 4 (a 4)), b 3 (a 3))");
}

/* No function is called "b.": the pattern finds one. Levels and notes are no functions. */
static void names_and_patterns(void **state)
{
	(void)state;
	assert_string_equal(seen(&(struct view){ .callees = "^x" }, 0), "all 8 (x::b2 8)");
	assert_string_equal(seen(&(struct view){ .callers = "[bc]" }, 0),
		"all 18 (b 9 (a 3 (main 3 (app 3)), main 6 (app 2, db 4)), c 1 (main 1 (db 1)), "
		"x::b2 8 (note 8 (db 8)))");
	stderr_begin();
	assert_string_equal(seen(&(struct view){ .callers = "note" }, 0), "error 61");
	assert_string_equal(stderr_end(), "probee: --callers: no function is called 'note'. Try: "
			    "--text --top 100 for their names, or a part of the name\n");
	stderr_begin();
	assert_string_equal(seen(&(struct view){ .callees = "(" }, 0), "error 22");
	assert_string_equal(stderr_end(), "probee: --callees: no function is called '(', and it is "
			    "no regular expression\n");
}

/* What takes too many steps loses its callers, but no weight. */
static void steps_are_limited(void **state)
{
	(void)state;
	assert_string_equal(seen(&(struct view){ .inverted = true }, 8),
		"all 18 ([too many stacks] 12, b 5 (a 3 (main 3 (app 3)), main 2 (app 2)), "
		"c 1 (main 1 ([too many stacks] 1)))");
}

/* Where each node went, its self weight is. */
static void check_places(const struct view *v)
{
	const struct report_limits limits = { .steps = 0 };
	struct profile *old = make_tree(), *p = make_tree();
	uint32_t *place;
	uint64_t left;

	assert_int_equal(view_apply_placed(v, &limits, &p, &place), 0);
	left = p->nodes[0].total;
	for (size_t n = 0; n < old->nr_nodes; n++) {
		if (place[n] == NODE_NONE)
			continue;
		assert_true(p->nodes[place[n]].self >= old->nodes[n].self);
		p->nodes[place[n]].self -= old->nodes[n].self;
		left -= old->nodes[n].self;
	}
	assert_int_equal(left, 0);
	free(place);
	profile_free(p);
	profile_free(old);
}

static void places_of_nodes(void **state)
{
	static const struct view views[] = {
		{ .inverted = true },
		{ .inverted = true, .keeps_levels = true },
		{ .callers = "b" },
		{ .callers = "b", .keeps_levels = true },
		{ .callees = "b" },
		{ .callees = "a", .inverted = true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		check_places(&views[i]);
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(upside_down),
		cmocka_unit_test(callers_of_one_function),
		cmocka_unit_test(callees_of_one_function),
		cmocka_unit_test(names_and_patterns),
		cmocka_unit_test(steps_are_limited),
		cmocka_unit_test(places_of_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
