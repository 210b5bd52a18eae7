/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture_report.h"
#include "tests/unit/tree.h"

extern const struct renderer renderer_text;

static const struct render_opts plain;

static char *render(const struct profile *p, const struct render_opts *opts)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(renderer_text.render(p, opts, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

#define assert_has(text, part) \
	do { \
		if (!strstr((text), (part))) \
			fail_msg("no \"%s\" in:\n%s", (part), (text)); \
	} while (0)

/* Characters, not bytes. */
static void check_width(const char *text, unsigned width)
{
	unsigned columns = 0;

	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80)
			columns++;
		if (*text == '\n')
			columns = 0;
		if (columns > width)
			fail_msg("a line is wider than %u columns", width);
	}
}

static void lists_the_busiest_first(void **state)
{
	struct profile p;
	const char *hot, *cold;
	uint32_t n;
	char *got;

	(void)state;
	tree_init(&p);
	n = tree_add(&p, "app_[s];main;hot 75");
	p.nodes[n].binary = tree_name(&p, "/usr/bin/app", 12);
	tree_add(&p, "app_[s];main;cold_[k] 25");
	got = render(&p, &plain);
	hot = strstr(got, "hot");
	cold = strstr(got, "cold_[k]");
	assert_non_null(hot);
	assert_non_null(cold);
	assert_true(hot < cold);
	assert_has(got, "75.00");
	assert_has(got, "25.00");
	assert_has(got, "app\n 25.00");	/* its file, in the table */
	check_width(got, 100);
	free(got);
	tree_release(&p);
}

static void counts_recursion_once(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	tree_add(&p, "app_[s];f;g;f;g;f 3");
	tree_add(&p, "app_[s];other 1");
	got = render(&p, &plain);
	assert_has(got, "75.00");
	assert_null(strstr(got, "150.00"));
	assert_null(strstr(got, "225.00"));
	free(got);
	tree_release(&p);
}

static void shows_so_many_functions(void **state)
{
	const struct render_opts two = { .top = 2, .min_percent = 25 };
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	tree_add(&p, "app_[s];one 40");
	tree_add(&p, "app_[s];two 30");
	tree_add(&p, "app_[s];three 20");
	got = render(&p, &two);
	assert_has(got, "one");
	assert_has(got, "two");
	assert_null(strstr(got, "three"));
	free(got);
	tree_release(&p);
}

static void leaves_thin_branches_out(void **state)
{
	struct profile p;
	char *got, *tree;

	(void)state;
	tree_init(&p);
	tree_add(&p, "app_[s];thick 9999");
	tree_add(&p, "app_[s];thin 1");
	got = render(&p, &plain);
	tree = strstr(got, "call tree");
	assert_non_null(tree);
	assert_has(tree, "thick");
	assert_null(strstr(tree, "thin\n"));
	free(got);
	tree_release(&p);
}

static void long_names_and_deep_stacks_fit(void **state)
{
	enum { DEPTH = 600 };
	struct profile p;
	uint32_t n = 0;
	char name[401], *got;

	(void)state;
	tree_init(&p);
	memset(name, 'x', sizeof(name));
	name[400] = 0;
	for (int i = 0; i < DEPTH; i++) {
		name[0] = (char)('a' + i % 26);
		n = tree_child(&p, n, name, 400);
		tree_weigh(&p, n, DEPTH - (unsigned)i);
	}
	n = tree_child(&p, n, "l\xc3\xa9" "af", 5);
	tree_weigh(&p, n, 100000);
	for (unsigned columns = 80; columns <= 140; columns += 20) {
		const struct render_opts terminal = { .columns = columns };

		got = render(&p, &terminal);
		assert_has(got, "l\xc3\xa9" "af");
		check_width(got, columns);
		free(got);
	}
	/* In a file names are whole. */
	got = render(&p, &plain);
	assert_has(got, name);
	free(got);
	tree_release(&p);
}

static void functions_of_templates_are_told_apart(void **state)
{
	static const char stacks[][128] = {
		"std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, "
		"std::allocator<char> >, int>::_M_erase",
		"std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, "
		"std::allocator<char> >, int>::_M_find",
	};
	const struct render_opts terminal = { .columns = 80 }, file = { 0 },
				 whole = { .columns = 80, .full_names = true };
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	for (size_t i = 0; i < 2; i++)
		tree_weigh(&p, tree_child(&p, 0, stacks[i], strlen(stacks[i])), 5);
	for (const struct render_opts *o = &terminal; o; o = o == &terminal ? &file : NULL) {
		got = render(&p, o);
		assert_has(got, "  std::_Rb_tree<std::string, int>::_M_erase\n");
		assert_has(got, "  std::_Rb_tree<std::string, int>::_M_find\n");
		assert_null(strstr(got, "basic_string"));
		free(got);
	}
	got = render(&p, &whole);
	assert_has(got, stacks[0]);
	assert_has(got, stacks[1]);
	free(got);
	tree_release(&p);
}

/* Names are shortened where they are shown, and rows are not put together by that. */
static void equal_short_names_are_two_rows(void **state)
{
	static const char stacks[][128] = {
		"f(A<unsigned long long, unsigned long long, int, 1>)",
		"f(A<unsigned long long, unsigned long long, int, 2>)",
	};
	const struct render_opts file = { 0 };
	const char *first;
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	for (size_t i = 0; i < 2; i++)
		tree_weigh(&p, tree_child(&p, 0, stacks[i], strlen(stacks[i])), 5);
	got = render(&p, &file);
	assert_has(got, "(2 of 2)");
	first = strstr(got, " 50.00   50.00     5       5  f(A<...>)\n");
	assert_non_null(first);
	assert_has(first + 1, " 50.00   50.00     5       5  f(A<...>)\n");
	free(got);
	tree_release(&p);
}

static void says_when_there_is_nothing(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	p.facts.samples_total = 12;
	got = render(&p, &plain);
	assert_has(got, "12");
	assert_has(got, "filter");
	free(got);
	tree_release(&p);
}

static void weights_have_units(void **state)
{
	const struct render_opts all = { .min_percent = 100, .columns = 100 };
	struct profile p;
	uint32_t n;
	char *got;

	(void)state;
	tree_init(&p);
	n = tree_add(&p, "app_[s];work 3091000000");
	p.nodes[n].self_samples = p.facts.samples = p.facts.samples_total = 306;
	p.facts.unit = "ns";
	p.facts.amount = "3.1 s of CPU time in 306 samples";
	p.facts.title = "app, CPU time";
	got = render(&p, &plain);
	assert_has(got, "title     app, CPU time\n");
	assert_has(got, "samples   3.1 s of CPU time in 306 samples; 0 lost\n");
	assert_has(got, "100.00  100.00  3.1 s     306  work");
	assert_has(got, "call tree (from 0.5 % of 3.1 s)");
	free(got);
	p.facts.unit = "cycles\033";
	got = render(&p, &all);
	assert_has(got, "100.00  3.1 G cycles\\x1b     306  work");
	assert_has(got, "% of 3.1 G cycles\\x1b)");
	check_is_harmless(got);
	free(got);
	p.nodes[n].total = p.nodes[n].self = p.nodes[1].total = p.nodes[0].total = UINT64_MAX;
	p.facts.unit = "count";
	p.facts.thing = "page-faults";
	got = render(&p, &all);
	assert_has(got, "18,446...709,551,615     306  work");
	assert_has(got, "call tree (from 100.0 % of 18,446,744,073,709,551,615 page-faults)");
	assert_has(got, " 100.00   100.00  work");
	free(got);
	tree_release(&p);
}

static void hostile_names_stay_words(void **state)
{
	const struct render_opts titled = { .title = HOSTILE, .columns = 100 };
	char *got = fixture_render(&renderer_text, &titled, hostile_names);

	(void)state;
	check_is_harmless(got);
	check_width(got, 100);
	free(got);
}

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_text, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.txt");
	free(got);
	got = fixture_render_wall(&renderer_text, &plain, NULL);
	check_golden(got, "fixture.wall.txt");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_the_busiest_first),
		cmocka_unit_test(counts_recursion_once),
		cmocka_unit_test(shows_so_many_functions),
		cmocka_unit_test(leaves_thin_branches_out),
		cmocka_unit_test(long_names_and_deep_stacks_fit),
		cmocka_unit_test(functions_of_templates_are_told_apart),
		cmocka_unit_test(equal_short_names_are_two_rows),
		cmocka_unit_test(says_when_there_is_nothing),
		cmocka_unit_test(weights_have_units),
		cmocka_unit_test(hostile_names_stay_words),
		cmocka_unit_test(matches_the_golden_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
