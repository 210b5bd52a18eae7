/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <cmocka.h>

#include "tests/unit/fixture_report.h"
#include "tests/unit/tree.h"

extern const struct renderer renderer_callgrind;

static const struct render_opts plain;

static char *write_tree(const struct profile *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(renderer_callgrind.render(p, &plain, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_callgrind, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.callgrind");
	assert_true(renderer_callgrind.made(got));
	free(got);
}

static void hostile_names_are_harmless(void **state)
{
	char *got = fixture_render(&renderer_callgrind, &plain, hostile_names);

	(void)state;
	check_is_harmless(got);
	free(got);
}

/* What functions weigh with all that they call: the sum of the calls that lead to them. */
static uint64_t weight_of_calls(const char *text, const char *name)
{
	unsigned id = 0, called = 0;
	uint64_t sum = 0, calls, weight;
	char *copy = strdup(text), *save = NULL;
	unsigned line;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		int at = 0;

		if (sscanf(l, "cfn=(%u)%n", &called, &at) == 1 || sscanf(l, "fn=(%u)%n", &called, &at) == 1) {
			if (l[at] == ' ' && !strcmp(l + at + 1, name))
				id = called;
		} else if (sscanf(l, "calls=%" SCNu64, &calls) == 1) {
			l = strtok_r(NULL, "\n", &save);
			assert_non_null(l);
			assert_int_equal(sscanf(l, "%u %" SCNu64, &line, &weight), 2);
			sum += called == id && id ? weight : 0;
		}
	}
	free(copy);
	return sum;
}

static void recursion_counts_once(void **state)
{
	static const char *const lines[] = { "a;b;a;b;a;c 3", "a;a;a 2", "b;a 1", "c;c;b 4" };
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		tree_add(&p, lines[i]);
	got = write_tree(&p);
	assert_int_equal(weight_of_calls(got, "a"), 6);
	assert_int_equal(weight_of_calls(got, "b"), 8);
	assert_int_equal(weight_of_calls(got, "c"), 7);
	assert_int_equal(weight_of_calls(got, "a'2"), 3);
	assert_int_equal(weight_of_calls(got, "a'3"), 3);
	assert_null(strstr(got, "a'4"));
	assert_non_null(strstr(got, "\ntotals: 10\n"));
	free(got);
	tree_release(&p);
}

/* callgrind_annotate does not look at binaries. */
static void namesakes_in_two_binaries_count_once(void **state)
{
	struct profile p;
	uint32_t n;
	char *got;

	(void)state;
	tree_init(&p);
	n = tree_add(&p, "malloc;inner 5");
	p.nodes[n].binary = tree_name(&p, "libc", 4);
	p.nodes[n].name = p.nodes[p.nodes[n].parent].name;
	got = write_tree(&p);
	assert_int_equal(weight_of_calls(got, "malloc"), 5);
	assert_int_equal(weight_of_calls(got, "malloc'2"), 5);
	free(got);
	tree_release(&p);
}

static void lines_are_kept_apart(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	for (uint32_t line = 12; line < 14; line++) {
		uint32_t n = tree_node(&p, 0, tree_name(&p, "work", 4));

		p.nodes[n].line = line;
		p.nodes[n].self = p.nodes[n].total = 5;
		p.nodes[n].self_samples = p.nodes[n].total_samples = 1;
		p.nodes[0].total += 5;
		p.nodes[0].total_samples++;
	}
	p.nodes[0].first_child = 1;
	p.nodes[1].next_sibling = 2;
	p.facts.unit = "bytes";
	got = write_tree(&p);
	assert_non_null(strstr(got, "fn=(2)\n12 5 1\n13 5 1\n"));
	assert_non_null(strstr(got, "calls=2 12\n0 10 2\n"));
	assert_non_null(strstr(got, "events: bytes samples\n"));
	free(got);
	tree_release(&p);
}

static void a_tree_of_nothing_is_a_profile(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	got = write_tree(&p);
	assert_non_null(strstr(got, "events: samples\n\ntotals: 0\n"));
	free(got);
	tree_release(&p);
}

static void names_of_files_choose_it(void **state)
{
	(void)state;
	assert_ptr_equal(renderer_of_file("/tmp/callgrind.out.12"), &renderer_callgrind);
	assert_ptr_equal(renderer_of_file("x.callgrind"), &renderer_callgrind);
	assert_ptr_equal(renderer_of_file("callgrind.out.svg"), renderer_find("svg"));
	assert_null(renderer_of_file("callgrind.out/x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_file),
		cmocka_unit_test(hostile_names_are_harmless),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(namesakes_in_two_binaries_count_once),
		cmocka_unit_test(lines_are_kept_apart),
		cmocka_unit_test(a_tree_of_nothing_is_a_profile),
		cmocka_unit_test(names_of_files_choose_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
