/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the deltas of a profile look in text: weights by scale, verdicts. Pictures: test_svg.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/render/diff_renderers.h"
#include "formats/render/renderer.h"
#include "src/profile/profile_delta.h"
#include "tests/unit/tree.h"

enum { ALL, MAIN, HOT, COOL, RARE, NODES };

static struct profile p;
static struct node_delta nodes[NODES];
static struct function_delta functions[3];
static struct profile_delta deltas;
static char *text;

static void set(unsigned node, uint64_t before, uint64_t after, uint64_t error,
		enum delta_verdict verdict, uint8_t shade)
{
	nodes[node].total = (struct delta){ before, after, error, (uint8_t)verdict, shade };
	if (node < HOT)
		return;
	nodes[node].before_self = before;
	nodes[node].after_self = after;
	nodes[node].before_self_samples = before / 1000000;
	nodes[node].after_self_samples = after / 1000000;
}

static int setup(void **state)
{
	(void)state;
	tree_init(&p);
	tree_add(&p, "main;hot_[k] 260000000");
	tree_add(&p, "main;cool 110000000");
	tree_add(&p, "main;rare 1000000");
	set(ALL, 171000000, 200000000, 40000000, DELTA_SAME, 0);
	set(MAIN, 171000000, 200000000, 40000000, DELTA_SAME, 0);
	set(HOT, 100000000, 160000000, 20000000, DELTA_MORE, 4);
	set(COOL, 70000000, 40000000, 10000000, DELTA_LESS, 2);
	set(RARE, 1000000, 0, 0, DELTA_FEW, 0);
	for (unsigned i = 0; i < 3; i++)
		functions[i] = (struct function_delta){ HOT + i, nodes[HOT + i].total };
	deltas = (struct profile_delta){
		.nodes = nodes, .functions = functions, .nr_functions = 3, .tested = 4,
		.differing = 2, .functions_tested = 2, .functions_differing = 2,
		.scale = SCALE_TIME, .exposure = { 500000000, 1000000000 },
		.before = "a.pbz", .after = "b.pbz", .scaled = "by time", .method = "chance",
	};
	p.deltas = &deltas;
	p.facts.unit = "ns";
	p.facts.title = "a -> b";
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_release(&p);
	free(text);
	text = NULL;
	return 0;
}

static const char *weight(uint64_t w)
{
	static char buf[WEIGHT_TEXT_MAX];

	return delta_weight_text(&p, w, buf);
}

static void weights_by_scale(void **state)
{
	(void)state;
	assert_string_equal(weight(160000000), "16.00");
	assert_string_equal(delta_unit_text(&p), "% of one CPU");
	deltas.exposure[1] = 3;
	assert_string_equal(weight(1), "33.33");
	assert_string_equal(weight(2), "66.67");
	assert_true(*weight(UINT64_MAX));
	deltas.exposure[1] = 4000000000;
	deltas.scale = SCALE_CPUS;
	assert_string_equal(weight(160000000), "4.00");
	assert_string_equal(delta_unit_text(&p), "% of all CPUs");
	deltas.scale = SCALE_SHARE;
	assert_string_equal(delta_unit_text(&p), "% of all");
	deltas.scale = SCALE_NONE;
	assert_string_equal(weight(160040000), "160.0");
	assert_string_equal(delta_unit_text(&p), "ms");
	deltas.scale = SCALE_RUN;
	deltas.exposure[1] = 2;
	assert_string_equal(weight(160000000), "80.0");
	assert_string_equal(delta_unit_text(&p), "ms of a run");
	nodes[ALL].total.after = 300000000000;
	assert_string_equal(weight(160000000000), "80.00");
	assert_string_equal(delta_unit_text(&p), "s of a run");
	deltas.scale = SCALE_TIME;
	p.facts.noun = "thread states";
	deltas.exposure[1] = 1000000000;
	assert_string_equal(weight(2500000000), "2.500");
	assert_string_equal(delta_unit_text(&p), "threads");
	p.facts.noun = "samples";
	p.facts.unit = "bytes";
	assert_string_equal(weight(2500), "2.5 kB");
	assert_string_equal(delta_unit_text(&p), "");
	deltas.exposure[1] = 0;
	deltas.scale = SCALE_SHARE;
	assert_string_equal(weight(2500), "2.5 kB");
}

static const char *relative(uint64_t before, uint64_t after)
{
	static char buf[WEIGHT_TEXT_MAX];
	const struct delta d = { .before = before, .after = after };

	return delta_relative_text(&d, buf);
}

static void changes(void **state)
{
	char buf[WEIGHT_TEXT_MAX + 1];

	(void)state;
	assert_string_equal(delta_change_text(&p, &nodes[HOT].total, buf), "+6.00");
	assert_string_equal(delta_change_text(&p, &nodes[COOL].total, buf), "-3.00");
	assert_string_equal(relative(100, 160), "+60.0 %");
	assert_string_equal(relative(70, 40), "-42.8 %");
	assert_string_equal(relative(100, 100), "0.0 %");
	assert_string_equal(relative(0, 100), "new");
	assert_string_equal(relative(100, 0), "gone");
	assert_string_equal(relative(1, 5000), "x 5000");
	assert_string_equal(relative(1, UINT64_MAX), "x 18446744073709551615");
	assert_string_equal(relative(0, 0), "");
	assert_string_equal(delta_verdict_name(DELTA_LESS), "less");
	assert_string_equal(delta_verdict_name(200), "few");
}

static const char *render(const struct renderer *r, bool all)
{
	struct render_opts opts = { .all = all };
	size_t len;
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	assert_int_equal(r->render(&p, &opts, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static const struct renderer *renderer(const char *name)
{
	for (size_t i = 0; diff_renderers[i]; i++)
		if (!strcmp(diff_renderers[i]->name, name))
			return diff_renderers[i];
	fail_msg("no renderer is called %s", name);
	return NULL;
}

#define assert_has(text, part) \
	do { \
		if (!strstr((text), (part))) \
			fail_msg("'%s' is not in:\n%s", (part), (text)); \
	} while (0)

static void as_text(void **state)
{
	static const char want[] =
		"title     a -> b\n"
		"before    a.pbz\n"
		"after     b.pbz\n"
		"scaled    by time\n"
		"method    chance\n"
		"differ    2 of 2 functions, 2 of 4 places in the call tree\n"
		"\n"
		"    before      after      change   +- 95 %   relative  function itself (2 of 3), "
		"in % of one CPU\n"
		"     10.00      16.00       +6.00      2.00    +60.0 %  hot_[k]\n"
		"      7.00       4.00       -3.00      1.00    -42.8 %  cool\n"
		"\n"
		"    before      after      change   +- 95 %   relative  call tree (2 of 5), "
		"in % of one CPU\n"
		"     17.10      20.00     (+2.90)      4.00             all\n"
		"     17.10      20.00     (+2.90)      4.00             main\n"
		"     10.00      16.00       +6.00      2.00    +60.0 %  + hot_[k]\n"
		"      7.00       4.00       -3.00      1.00    -42.8 %  + cool\n";

	(void)state;
	assert_string_equal(render(&diff_renderer_text, false), want);
	assert_has(render(&diff_renderer_text, true),
		   "      0.10       0.00     (-0.10)                       rare\n");
	assert_true(diff_renderer_text.made(text));
}

static void nothing_differs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NODES; i++)
		nodes[i].total.verdict = DELTA_SAME;
	for (unsigned i = 0; i < 3; i++)
		functions[i].self.verdict = DELTA_SAME;
	deltas.differing = deltas.functions_differing = 0;
	assert_has(render(&diff_renderer_text, false),
		   "differ    no significant difference: 0 of 2 functions, 0 of 4 places");
	assert_null(strstr(text, "hot"));
}

static void as_folded_lines(void **state)
{
	(void)state;
	assert_string_equal(render(renderer("collapse"), false),
			    "main;cool 70 40\nmain;hot_[k] 100 160\nmain;rare 1 0\n");
	assert_true(renderer("collapse")->made(text));
	p.facts.unit = "bytes";
	assert_string_equal(render(renderer("collapse"), false),
			    "main;cool 70000000 40000000\nmain;hot_[k] 100000000 160000000\n"
			    "main;rare 1000000 0\n");
}

static void as_json(void **state)
{
	const char *json = render(renderer("json"), false);

	(void)state;
	assert_has(json, "{\"name\":\"hot\",\"value\":160000000,\"self\":160000000,"
			 "\"before\":100000000,\"before_self\":100000000,\"delta\":60000000,"
			 "\"error\":20000000,\"verdict\":\"more\",");
	assert_has(json, "\"delta\":-30000000,");
	assert_has(json, "\"delta\":-1000000,\"verdict\":\"few\"");
	assert_has(json, "\"before\":\"a.pbz\",\"after\":\"b.pbz\",\"scaled\":\"by time\"");
	assert_true(renderer("json")->made(text));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(weights_by_scale), TEST(changes),	       TEST(as_text), TEST(nothing_differs),
		TEST(as_folded_lines),	TEST(as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
