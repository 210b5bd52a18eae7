/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/render/frame_marks.h"
#include "src/base/opt.h"
#include "tests/unit/fixture_report.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/tree.h"

extern const struct renderer renderer_collapse;

static char *collapse(const struct profile *p, const struct render_opts *opts)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(renderer_collapse.render(p, opts, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Folds nr lines and expects want; all trees are the caller's lines, so order is up to the renderer. */
static void check(const char *const *lines, size_t nr, const struct render_opts *opts, const char *want)
{
	struct profile p;
	char *got;

	tree_init(&p);
	for (size_t i = 0; i < nr; i++)
		tree_add(&p, lines[i]);
	got = collapse(&p, opts);
	assert_string_equal(got, want);
	free(got);
	tree_release(&p);
}

#define CHECK(opts, want, ...) \
	check((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), \
	      opts, want)

static const struct render_opts plain;

static void writes_a_line_per_stack(void **state)
{
	(void)state;
	CHECK(&plain, "app;main 1\napp;main;read_[k] 2\napp;main;work 3\n",
	      "app_[s];main;work 3", "app_[s];main;read_[k] 2", "app_[s];main 1");
}

static void marks_kernel_frames_as_told(void **state)
{
	const struct render_opts none = { .kernel_suffix = "" }, other = { .kernel_suffix = "_k" };

	(void)state;
	CHECK(&none, "a;read 1\n", "a;read_[k] 1");
	CHECK(&other, "a;read_k 1\n", "a;read_[k] 1");
}

static struct render_opts marked(const char *marks)
{
	const struct opt row = { .name = "marks" };
	struct render_opts opts = { .deep = true };

	assert_int_equal(frame_marks_parse(&row, marks, &opts.marks), 0);
	return opts;
}

static void marks_what_is_asked_for(void **state)
{
	const struct render_opts none = marked("none"), jit = marked("jit"), all = marked("all"),
				 two = marked("kernel,jit"), run = marked("interpreted");

	(void)state;
	CHECK(&plain, "main;js;f_[i];read_[k] 1\n", "main;js_[j];f_[i];read_[k] 1");
	CHECK(&none, "main;js;f;read 1\n", "main;js_[j];f_[i];read_[k] 1");
	CHECK(&jit, "main;js_[j];f;read 1\n", "main;js_[j];f_[i];read_[k] 1");
	CHECK(&all, "main;js_[j];f_[i];read_[k] 1\n", "main;js_[j];f_[i];read_[k] 1");
	CHECK(&two, "main;js_[j];f;read_[k] 1\n", "main;js_[j];f_[i];read_[k] 1");
	CHECK(&run, "main;js;py_[0] 1\n", "main;js_[j];py_[n] 1");
	CHECK(&all, "main;js_[j];py_[0] 1\n", "main;js_[j];py_[n] 1");
	CHECK(&jit, "main;js_[j];py 1\n", "main;js_[j];py_[n] 1");
}

static void unknown_marks_are_refused(void **state)
{
	static const char *const wrong[] = { "", "kernel,", "kernels", ",jit" };
	const struct opt row = { .name = "marks" };
	uint8_t marks = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		stderr_begin();
		assert_int_equal(frame_marks_parse(&row, wrong[i], &marks), -EINVAL);
		assert_non_null(strstr(stderr_end(), "Try: some of kernel,inline,jit"));
	}
	assert_int_equal(marks, 0);
}

static void sorts_as_sort_does(void **state)
{
	(void)state;
	/* ' ' < '0' < ';' < 'b': neither names nor counts are compared alone. */
	CHECK(&plain, "a (x) 1\na 20\na b;x 4\na;b 3\na;c 1\nab 7\n",
	      "ab 7", "a 20", "a;c 1", "a;b 3", "a b;x 4", "a (x) 1");
	CHECK(&plain, "f 10\nf 9 1\n", "f 10", "f 9 1");
}

static void merges_what_reads_the_same(void **state)
{
	struct profile p;
	uint32_t a, b;
	char *got;

	(void)state;
	tree_init(&p);
	a = tree_add(&p, "main;same;leaf 1");
	tree_add(&p, "main;same 2");
	b = tree_add(&p, "main;other;leaf 4");
	tree_add(&p, "main;other 8");
	/* A function of the same name in another file. */
	p.nodes[p.nodes[a].parent].binary = tree_name(&p, "/a", 2);
	p.nodes[p.nodes[b].parent].binary = tree_name(&p, "/b", 2);
	p.nodes[p.nodes[b].parent].name = p.nodes[p.nodes[a].parent].name;
	got = collapse(&p, &plain);
	assert_string_equal(got, "main;same 10\nmain;same;leaf 5\n");
	free(got);
	tree_release(&p);
}

static void writes_nothing_for_nothing(void **state)
{
	struct profile p;
	char *got;

	(void)state;
	tree_init(&p);
	got = collapse(&p, &plain);
	assert_string_equal(got, "");
	free(got);
	tree_release(&p);
}

static void is_not_afraid_of_depth(void **state)
{
	enum { DEPTH = 5000 };
	struct profile p;
	uint32_t n = 0;
	char *got;

	(void)state;
	tree_init(&p);
	for (int i = 0; i < DEPTH; i++)
		n = tree_child(&p, n, "f", 1);
	tree_weigh(&p, n, 1);
	got = collapse(&p, &plain);
	assert_int_equal(strlen(got), 2 * DEPTH - 1 + 3);
	free(got);
	tree_release(&p);
}

static void hostile_names_stay_frames(void **state)
{
	char *got = fixture_render(&renderer_collapse, &plain, hostile_names);
	unsigned long sum = 0;

	(void)state;
	check_is_harmless(got);
	for (char *line = strtok(got, "\n"); line; line = strtok(NULL, "\n")) {
		assert_non_null(strrchr(line, ' '));
		sum += strtoul(strrchr(line, ' '), NULL, 10);
	}
	assert_int_equal(sum, FIX_CPU_SAMPLES);
	free(got);
}

/* Time is counted in samples, as other tools expect; what weighs differently is summed. */
static void counts_samples_of_time_and_else_weight(void **state)
{
	struct profile p;
	uint32_t n;
	char *got;

	(void)state;
	tree_init(&p);
	n = tree_add(&p, "app_[s];main;work 3000");
	p.nodes[n].self_samples = 3;
	p.facts.unit = "ns";
	got = collapse(&p, &plain);
	assert_string_equal(got, "app;main;work 3\n");
	free(got);
	p.facts.unit = "count";
	got = collapse(&p, &plain);
	assert_string_equal(got, "app;main;work 3000\n");
	free(got);
	tree_release(&p);
}

/* Lengths are rounded to microseconds, also the longest that there is. */
static void counts_lengths_in_microseconds(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} t[] = {
		{ 499, "" },
		{ 500, "sleep 1\n" },
		{ 1499, "sleep 1\n" },
		{ UINT64_MAX, "sleep 18446744073709552\n" },
	};
	struct profile p;
	uint32_t n;

	(void)state;
	tree_init(&p);
	n = tree_add(&p, "sleep 1");
	p.facts.unit = "ns";
	p.facts.has_lengths = true;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char *got;

		p.nodes[n].self = t[i].ns;
		got = collapse(&p, &plain);
		assert_string_equal(got, t[i].want);
		free(got);
	}
	tree_release(&p);
}

static void matches_the_golden_file(void **state)
{
	char *got = fixture_render(&renderer_collapse, &plain, NULL);

	(void)state;
	check_golden(got, "fixture.folded");
	assert_true(is_liked_by("sort", "LC_ALL=C sort -c 2>/dev/null", got));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_a_line_per_stack),
		cmocka_unit_test(marks_kernel_frames_as_told),
		cmocka_unit_test(marks_what_is_asked_for),
		cmocka_unit_test(unknown_marks_are_refused),
		cmocka_unit_test(sorts_as_sort_does),
		cmocka_unit_test(merges_what_reads_the_same),
		cmocka_unit_test(writes_nothing_for_nothing),
		cmocka_unit_test(is_not_afraid_of_depth),
		cmocka_unit_test(hostile_names_stay_frames),
		cmocka_unit_test(counts_samples_of_time_and_else_weight),
		cmocka_unit_test(counts_lengths_in_microseconds),
		cmocka_unit_test(matches_the_golden_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
