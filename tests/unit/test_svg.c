/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/render/renderer.h"
#include "src/profile/short_name.h"
#include "formats/render/svg/svg_text.h"
#include "src/profile/profile_delta.h"
#include "tests/unit/tree.h"

extern const struct renderer renderer_svg;

struct shot {				/* a profile and its picture */
	struct profile p;
	char *svg;
	size_t len;
};

static int setup(void **state)
{
	static struct shot s;

	memset(&s, 0, sizeof(s));
	tree_init(&s.p);
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	struct shot *s = *state;

	tree_release(&s->p);
	free(s->svg);
	return 0;
}

static const char *render_with(struct shot *s, const struct render_opts *opts)
{
	FILE *out;

	free(s->svg);
	out = open_memstream(&s->svg, &s->len);
	assert_non_null(out);
	assert_int_equal(renderer_svg.render(&s->p, opts, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(s->svg), s->len);
	return s->svg;
}

static const char *render_titled(struct shot *s, const char *title)
{
	return render_with(s, &(struct render_opts){ .title = title });
}

static const char *render(struct shot *s)
{
	return render_titled(s, NULL);
}

#define assert_has(svg, text) \
	do { \
		if (!strstr((svg), (text))) \
			fail_msg("not in the picture: %s", (text)); \
	} while (0)

#define assert_lacks(svg, text) \
	do { \
		if (strstr((svg), (text))) \
			fail_msg("in the picture: %s", (text)); \
	} while (0)

/* Asks xmllint; true when it is missing. */
static bool is_well_formed(const struct shot *s)
{
	FILE *in;

	if (system("command -v xmllint >/dev/null"))
		return true;
	in = popen("xmllint --noout --nonet --huge - 2>/dev/null", "w");
	assert_non_null(in);
	assert_int_equal(fwrite(s->svg, 1, s->len, in), s->len);
	return pclose(in) == 0;
}

static size_t count_of(const char *hay, const char *needle)
{
	const char *end = hay + strlen(hay);
	size_t n = 0;

	/* Not strstr(): the address sanitizer measures the whole rest of the string in each call. */
	while ((hay = memmem(hay, (size_t)(end - hay), needle, strlen(needle)))) {
		hay++;
		n++;
	}
	return n;
}

static void says_what_a_box_is(void **state)
{
	struct shot *s = *state;
	const char *svg;
	uint32_t n = tree_add(&s->p, "main;std::sort<int>(int*)_[i] @a b.cc:17 1234");

	s->p.nodes[n].binary = tree_name(&s->p, "/bin/x&y", 8);
	tree_add(&s->p, "main 1");
	svg = render(s);
	assert_has(svg, "<title>std::sort&lt;int&gt;(int*)\n1,234 samples, 99.92%; self 1,234 samples, 99.92%\n"
			"/bin/x&amp;y\na b.cc:17\ninlined</title>");
	assert_has(svg, "<title>main\n1,235 samples, 100.00%; self 1 sample, 0.08%</title>");
	assert_has(svg, "data-x=\"0\" data-w=\"1234\" data-d=\"2\"");
}

static void tells_kinds_apart(void **state)
{
	static const char *const names[] = { "u_[u]", "i_[i]", "k_[k]", "j_[j]", "b_[b]", "s_[s]", "n_[n]" };
	struct shot *s = *state;
	char line[32], class[32];
	const char *svg;

	for (size_t i = 0; i < 7; i++) {
		snprintf(line, sizeof(line), "%s 1", names[i]);
		tree_add(&s->p, line);
	}
	tree_add(&s->p, "k_[k]_[g] 1");
	s->p.nodes[tree_add(&s->p, "t_[j] 1")].flags |= NODE_BASELINE | NODE_BUILTIN;
	svg = render(s);
	for (size_t i = 0; i < 7; i++) {
		const char *title, *g;

		snprintf(line, sizeof(line), "<title>%c\n", names[i][0]);
		title = strstr(svg, line);
		assert_non_null(title);
		for (g = title; strncmp(g, "<g ", 3); g--)
			;
		snprintf(class, sizeof(class), "<g class=\"f %c", names[i][0]);
		assert_memory_equal(g, class, strlen(class));
		snprintf(class, sizeof(class), "<rect class=\"%c4\"", names[i][0]);
		assert_int_equal(count_of(svg, class), 1);	/* legend */
	}
	assert_has(svg, "slanted: guessed");
	assert_has(svg, "kernel, guessed caller");
	assert_has(svg, "JIT code, baseline, builtin");
	assert_has(svg, "\ninterpreted</title>");
}

static void legend_names_only_what_is_there(void **state)
{
	struct shot *s = *state;

	tree_add(&s->p, "main 1");
	assert_lacks(render(s), "class=\"k4\"");
	assert_lacks(s->svg, "slanted");
}

static void shows_the_facts(void **state)
{
	struct shot *s = *state;
	const char *svg;

	tree_add(&s->p, "main 12345");
	s->p.facts.host = "h&st";
	s->p.facts.kernel = "Linux 6.1";
	s->p.facts.shown = "CPU time (cpu-clock, 99 Hz)";
	s->p.facts.amount = "12,345 samples & more";
	s->p.facts.title = "app<x>, CPU time";
	s->p.facts.begin_real_ns = 86400000000000;
	s->p.facts.duration_ns = 2500000000;
	s->p.facts.stacks = "66.7 % of 3 user stacks are whole";
	s->p.facts.not_whole = "33.3 % l&b.so: return address 0";
	svg = render(s);
	assert_has(svg, "<title id=\"title\">app&lt;x&gt;, CPU time</title>");
	assert_has(svg, ">CPU time (cpu-clock, 99 Hz)  \xc2\xb7  12,345 samples &amp; more  \xc2\xb7  0 lost<");
	assert_has(svg, ">h&amp;st  \xc2\xb7  Linux 6.1  \xc2\xb7  1970-01-02 00:00:00 UTC  \xc2\xb7  2.500 s from the ");
	assert_has(svg, ">66.7 % of 3 user stacks are whole  \xc2\xb7  not whole: 33.3 % l&amp;b.so: return address 0<");
	assert_lacks(svg, "class=\"warn\"");
}

static void losses_are_never_silent(void **state)
{
	struct shot *s = *state;

	tree_add(&s->p, "main 5");
	s->p.facts.lost = 1;
	assert_has(render(s), "1 sample was lost");
	s->p.facts.lost = 0;
	s->p.facts.incomplete = true;
	assert_has(render(s), "cut short");
	s->p.facts.warning = "the <disk> was full";
	assert_has(render(s), "class=\"warn\" x=\"10\" y=\"65\">Losses: the &lt;disk&gt; was full</text>");
	assert_lacks(s->svg, "cut short");
}

static void a_long_warning_is_wrapped_not_cut(void **state)
{
	struct shot *s = *state;
	char warning[1001];

	for (size_t i = 0; i < 1000; i++)
		warning[i] = i % 10 == 9 ? ' ' : (char)('0' + i % 10);
	warning[1000] = 0;
	s->p.facts.warning = warning;
	tree_add(&s->p, "main 5");
	assert_true(count_of(render(s), "class=\"warn more\"") > 4);
	assert_int_equal(count_of(s->svg, "012345678"), 100);
}

static void says_that_there_is_nothing(void **state)
{
	struct shot *s = *state;

	assert_has(render(s), "No samples: ");
	assert_lacks(s->svg, "<script>");
	assert_true(is_well_formed(s));
	s->p.facts.samples_total = 1234;
	assert_has(render(s), "No samples to show: the filters left none of 1,234.");
}

static void hides_and_says_so(void **state)
{
	struct shot *s = *state;
	char line[32];

	tree_add(&s->p, "wide 100000");
	for (int i = 0; i < 1500; i++) {
		snprintf(line, sizeof(line), "narrow%d 1", i);
		tree_add(&s->p, line);
	}
	assert_has(render(s), ">0 lost  \xc2\xb7  1,500 narrow frames hidden: 1.48% of the weight<");
	assert_int_equal(count_of(s->svg, "<g class=\"f "), 2);
	assert_has(s->svg, "data-w=\"101500\"");
}

/* One deep stack of a few samples does not decide how high the picture is. */
static void tips_are_cut_off_and_said(void **state)
{
	struct shot *s = *state;
	uint32_t n = 0;

	for (int i = 0; i < 160; i++)
		n = tree_child(&s->p, n, "deeper", 6);
	tree_weigh(&s->p, n, 9);
	tree_add(&s->p, "main;wide 991");
	assert_has(render(s), ">121 narrow rows above not shown: 0.90% of the weight<");
	assert_has(s->svg, "data-rows=\"40\"");
	assert_has(s->svg, "height=\"722\" overflow=\"hidden\"");
	assert_int_equal(count_of(s->svg, "<g class=\"f "), 163);

	tree_weigh(&s->p, n, 10);
	assert_lacks(render(s), "above not shown");
	assert_has(s->svg, "data-rows=\"161\"");
}

static void folded_recursion_is_counted(void **state)
{
	struct shot *s = *state;
	uint32_t levels[4] = { 0, 0, 12, 0 };

	tree_add(&s->p, "main;walk(int);leaf 100");
	s->p.levels = levels;
	assert_has(render(s), "data-d=\"2\" data-l=\"12\"><title>walk(int)\n100 samples, 100.00%\n"
			      "recursion is folded: up to 12 levels</title>");
	assert_has(s->svg, ">walk(int) \xc3\x97" "12</text>");
	assert_has(s->svg, "recursion folded: \xc3\x97 says");
	assert_int_equal(count_of(s->svg, " data-l="), 1);
	s->p.levels = NULL;
}

static void the_first_answer_comes_first(void **state)
{
	struct shot *s = *state;
	struct answer_lines *a = &s->p.facts.answer;

	tree_add(&s->p, "main 5");
	s->p.facts.amount = "5 s of CPU time in 5 samples";
	*a = (struct answer_lines){ { "time", "", "finding" },
				    { "5 s: 0.5 CPUs", "  5 s  100 %  a<b>", "CPU shortage" }, 3 };
	assert_has(render(s), ">5 s: 0.5 CPUs  \xc2\xb7  5 samples  \xc2\xb7  0 lost</text>\n"
			      "<text class=\"s wrong\" x=\"10\" y=\"65\">Finding: CPU shortage</text>");
	assert_has(s->svg, "<g id=\"facts\">\n<text class=\"s\" x=\"10\" y=\"");
	assert_has(s->svg, ">5 s  100 %  a&lt;b&gt;</text>");
	assert_lacks(s->svg, "in 5 samples");
	assert_true(is_well_formed(s));
}

/* Colours say what differs, titles by how much, and neither says it of what is chance. */
static void differences_are_coloured(void **state)
{
	struct node_delta nodes[5] = {
		{ .total = { 100, 150, 20, DELTA_SAME, 0 } },
		{ .total = { 10, 60, 15, DELTA_MORE, 4 }, .before_self = 10, .after_self = 60 },
		{ .total = { 60, 0, 15, DELTA_LESS, 3 }, .before_self = 60 },
		{ .total = { 30, 32, 9, DELTA_SAME, 0 } },
		{ .total = { 0, 1, 0, DELTA_FEW, 0 } },
	};
	struct profile_delta d = { .nodes = nodes, .tested = 4, .differing = 2, .scale = SCALE_NONE,
				   .before = "a<.pbz: 100", .after = "b.pbz: 150", .scaled = "not",
				   .method = "by chance" };
	static const char *const classes[] = { "q", "r4", "l3", "q", "e" };
	static const char *const names[] = { "all", "slow", "gone", "same", "few" };
	struct shot *s = *state;
	char want[64];

	tree_add(&s->p, "slow 70");
	tree_add(&s->p, "gone 60");
	tree_add(&s->p, "same_[k] 62");
	tree_add(&s->p, "few 1");
	s->p.deltas = &d;
	render(s);
	s->p.deltas = NULL;
	for (size_t i = 0; i < 5; i++) {
		const char *g;

		snprintf(want, sizeof(want), "<title>%s\n", names[i]);
		for (g = strstr(s->svg, want); strncmp(g, "<g ", 3); g--)
			;
		snprintf(want, sizeof(want), "<g class=\"f %s", classes[i]);
		assert_memory_equal(g, want, strlen(want));
	}
	assert_has(s->svg, "<title>slow\nbefore 10, after 60: +50 \xc2\xb1 15, +500.0 %\n"
			   "more than before; self before 10, after 60</title>");
	assert_has(s->svg, "\nno difference beyond chance\nkernel</title>");
	assert_has(s->svg, ": +1\ntoo few samples to tell</title>");
	assert_has(s->svg, ">2 of 4 places in the tree differ by more than chance  ");
	assert_has(s->svg, ">before: a&lt;.pbz: 100</text>");
	assert_has(s->svg, "<rect class=\"r3\"");
	assert_lacks(s->svg, ">user</text>");
	assert_true(is_well_formed(s));
}

static void says_what_stands_above(void **state)
{
	struct shot *s = *state;

	tree_add(&s->p, "main;wide 991");
	assert_has(render(s), "what it called stands above it.</desc>");
	assert_lacks(s->svg, "callers stand above");
	s->p.facts.is_inverted = true;
	assert_has(render(s), "those who called it stand above it.</desc>");
	assert_has(s->svg, ">upside down: callers stand above what they call  ");
}

/* What a box weighs comes with its unit, and beside it how many samples that rests on. */
static void weights_have_units(void **state)
{
	struct shot *s = *state;
	uint32_t a = tree_add(&s->p, "a 1500000000"), b = tree_add(&s->p, "b 2250000");

	s->p.nodes[a].self_samples = s->p.nodes[a].total_samples = 150;
	s->p.nodes[b].self_samples = s->p.nodes[b].total_samples = 1;
	s->p.facts.unit = "ns";
	assert_has(render(s), "<title>a\n1.5 s, 150 samples, 99.85%; self 1.5 s, 150 samples, 99.85%</title>");
	assert_has(s->svg, "<title>b\n2.3 ms, 1 sample, 0.15%; self");
	s->p.facts.noun = "thread states";
	assert_has(render(s), "<title>b\n2.3 ms, 1 thread state, 0.15%; self");
	s->p.facts.unit = "count";
	s->p.facts.thing = "page-faults";
	s->p.facts.noun = "samples";
	assert_has(render(s), "<title>b\n2,250,000 page-faults, 1 sample, 0.15%; self");
	assert_has(s->svg, "data-w=\"2250000\"");
}

/* All weights of a tree together stay below 2^64: this one is just below it. */
static void huge_weights_keep_their_places(void **state)
{
	struct shot *s = *state;

	tree_add(&s->p, "a 9223372036854775807");
	tree_add(&s->p, "b 9223372036854775808");
	s->p.facts.unit = "bytes";
	assert_has(render(s), "<title>a\n9,223,372 TB, 9,223,372,036,854,775,807 samples, 50.00%; self");
	assert_has(s->svg, "<rect x=\"49.9999%\" width=\"50.0001%\"");
	assert_int_equal(count_of(s->svg, "<g class=\"f "), 3);
}

static const char *const hostile[] = {
	"</script><script>alert(1)</script>", "]]>", "<![CDATA[", "&lt;&#0;&", "\"'><x y='", "<!DOCTYPE x [",
	"--><!--", "\x01\x08\x1b[2J\x7f", "\xff\xfe\x80\xc3", "\xed\xa0\x80\xef\xbf\xbf\xef\xbf\xbe", "\xe2\x80\xae rtl",
	"line\nbreak\r\ttab", "\xf4\x90\x80\x80", "", "\xc3", "javascript:alert(1)",
};

static void foreign_names_stay_text(void **state)
{
	struct shot *s = *state;
	struct profile_facts *f = &s->p.facts;

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		uint32_t n = tree_child(&s->p, 0, hostile[i], strlen(hostile[i]));

		s->p.nodes[n].binary = s->p.nodes[n].file = s->p.nodes[n].name;
		tree_weigh(&s->p, n, 10);
	}
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		f->host = f->kernel = f->tool = f->argv = f->event = f->unit = f->warning = f->stacks = f->not_whole = f->scans =
			f->noun = f->thing = f->shown = f->amount = f->title =
			hostile[i];
		render_titled(s, i % 2 ? hostile[i] : NULL);
		assert_int_equal(count_of(s->svg, "<script"), 1);
		assert_int_equal(count_of(s->svg, "<![CDATA["), 2);
		assert_int_equal(count_of(s->svg, "]]>"), 2);
		assert_lacks(s->svg, "<!DOCTYPE");
		assert_lacks(s->svg, "<x");
		assert_true(is_well_formed(s));
	}
}

static void a_given_title_is_escaped_once(void **state)
{
	struct shot *s = *state;

	tree_add(&s->p, "main 5");
	assert_has(render_titled(s, "A & B <x>"), "<title id=\"title\">A &amp; B &lt;x&gt;</title>");
	assert_has(s->svg, "y=\"28\">A &amp; B &lt;x&gt;</text>");
	assert_lacks(s->svg, "&amp;amp;");
}

/* What is printed adds up: boxes of a row do not overlap, not even by rounding. */
static void printed_widths_nest(void **state)
{
	struct shot *s = *state;
	double end[64] = { 0 }, x, w;
	const char *at;
	char line[64];
	unsigned depth;

	for (int i = 0; i < 2000; i++) {
		snprintf(line, sizeof(line), "a%d;b%d;c%d %d", i % 7, i % 31, i % 101, i % 13 + 1);
		tree_add(&s->p, line);
	}
	for (at = render(s); (at = strstr(at, "data-d=\"")); at++) {
		assert_int_equal(sscanf(at, "data-d=\"%u\"", &depth), 1);
		assert_int_equal(sscanf(strstr(at, "<rect x="), "<rect x=\"%lf%%\" width=\"%lf%%\"", &x, &w), 2);
		assert_true(x >= end[depth] - 1e-9);
		assert_true(!depth || x + w <= end[depth - 1] + 1e-9);
		end[depth] = x + w;
	}
	assert_true(end[0] > 99.9999 && end[0] < 100.0001);
	assert_true(end[1] > 99.9999);
}

static void equal_input_gives_equal_output(void **state)
{
	struct shot *s = *state;
	char *first;

	tree_add(&s->p, "a;b;c 3");
	render(s);
	first = strdup(s->svg);
	assert_string_equal(render(s), first);
	free(first);
}

static void a_large_tree_is_quick(void **state)
{
	struct shot *s = *state;
	uint64_t seed = 1;
	struct timespec a, b;
	char name[64];
	double ms;

	while (s->p.nr_nodes < 100000) {
		uint32_t n = 0;

		for (int depth = 0; depth < 30; depth++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			snprintf(name, sizeof(name), "space::Class<int>::method%u(char const*)", (unsigned)(seed >> 61));
			n = tree_child(&s->p, n, name, strlen(name));
		}
		tree_weigh(&s->p, n, 1);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	render(s);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	assert_true(ms < 3000);		/* 50 ms; the rest is for sanitizers and slow machines */
	assert_true(count_of(s->svg, "<g class=\"f ") <= 20000);
	assert_true(is_well_formed(s));
}

static void labels_fit_and_keep_characters_whole(void **state)
{
	static const struct { const char *s; unsigned px; const char *want; } cases[] = {
		{ "main", 100, "main" }, { "main", 10, "" }, { "a<b", 100, "a&lt;b" },
		{ "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 30, "\xe6\xbc\xa2\xe2\x80\xa6" }, { "", 50, "" },
	};
	char *buf;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *out = open_memstream(&buf, &len);

		text_put_cut(out, cases[i].s, cases[i].px);
		fclose(out);
		assert_string_equal(buf, cases[i].want);
		free(buf);
	}
}

/* The picture without a script: the longest form that fits, and the whole name in the title. */
static void names_take_shorter_forms(void **state)
{
	static const char sort[] = "void std::sort<int*>(int*, int*)";
	static const struct { const char *s; unsigned px; const char *want; } cases[] = {
		{ sort, 300, "void std::sort&lt;int*&gt;(int*, int*)" },
		{ sort, 200, "void std::sort(int*, int*)" }, { sort, 110, "void std::sort" },
		{ sort, 80, "std::sort" }, { sort, 45, "sort" }, { sort, 20, "s\xe2\x80\xa6" },
		{ "schedule_hrtimeout_range", 110, "schedu\xe2\x80\xa6t_range" },
		{ "schedule_hrtimeout_range", 90, "schedule_h\xe2\x80\xa6" },
	};
	struct shot *shot = *state;
	char *buf;
	size_t len;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *out = open_memstream(&buf, &len);

		text_put_name(out, cases[i].s, cases[i].px);
		fclose(out);
		assert_string_equal(buf, cases[i].want);
		free(buf);
	}
	tree_add(&shot->p, "main;void std::sort<int*>(int*, int*) 8");
	tree_add(&shot->p, "main;other 92");
	render(shot);
	assert_has(shot->svg, "<title>void std::sort&lt;int*&gt;(int*, int*)\n");
	assert_has(shot->svg, ">std::sort</text>");
}

/* With and without the script; the title of a box has the whole name. */
static void labels_are_what_people_read(void **state)
{
	struct shot *shot = *state;

	tree_add(&shot->p, "Bank$$Lambda$4/0x00007fcff8002a40.run 60");
	tree_add(&shot->p, "bool std::operator< <char, std::char_traits<char> >(A) 40");
	render(shot);
	assert_has(shot->svg, " data-n=\"Bank$$Lambda.run\"");
	assert_has(shot->svg, ">Bank$$Lambda.run</text>");
	assert_has(shot->svg, "<title>Bank$$Lambda$4/0x00007fcff8002a40.run\n");
	assert_has(shot->svg, ">bool std::operator&lt; &lt;char, std::char_traits&lt;char&gt;&gt;(A)</text>");
	render_with(shot, &(struct render_opts){ .full_names = true });
	assert_lacks(shot->svg, "data-n=");
	assert_has(shot->svg, ">Bank$$Lambda$4/0x00007fcff8002a40.run</text>");
}

/* By class and method, and by the method alone, which is the last that goes. */
static void paths_end_in_the_method(void **state)
{
	static const struct { const char *s, *with_class, *method; } cases[] = {
		{ "std::map<int, A::B>::operator[](int const&)", "map::operator[]", "map::operator[]" },
		{ "void ns::(anonymous namespace)::run(int)", "(anonymous namespace)::run", "run" },
		{ "A::B::operator<(A::B const&) const", "B::operator<", "B::operator<" },
		{ "bool std::operator< <char>(A const&, B const&)", "std::operator< <char>", "std::operator< <char>" },
		{ "Key ns::Map::operator[](int)", "Map::operator[]", "Map::operator[]" },
		{ "java.util.HashMap.put(java.lang.Object)", "HashMap.put", "put" },
		{ "java.util.HashMap.<init>(int)", "HashMap.<init>", "HashMap.<init>" },
		{ "java.lang.LambdaForm$MH/0x00007f3010002000.invoke(int)", "LambdaForm$MH/0x00007f3010002000.invoke", "invoke" },
		{ "Lcom/foo/Bank;::transfer", "Bank::transfer", "transfer" },
		{ "github.com/acme/agent/metrics.(*Registry).Collect", "(*Registry).Collect", "Collect" },
		{ "main.main.func1", "main.func1", "func1" },
		{ "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", "<alloc::vec::Vec as core::ops::drop::Drop>::drop", "drop" },
		{ "app::run::{{closure}}", "run::{{closure}}", "run::{{closure}}" },
		{ "LazyCompile:~handler /srv/app.js:14", "handler", "handler" },
		{ "JS:*render file:///a/b.mjs:1:2", "render", "render" },
		{ "py::load:/srv/app.py", "load", "load" },
		{ "do_sys.constprop.0", "do_sys.constprop.0", "do_sys.constprop.0" },
		{ "main", "main", "main" }, { "", "", "" }, { "a::", "a::", "a::" }, { "::a", "::a", "::a" },
		{ "{lambda(A::B)#1}::operator()", "{lambda(A::B)#1}::operator()", "{lambda(A::B)#1}::operator()" },
		{ "a<b::c", "a<b::c", "a<b::c" }, { "/usr/lib/libc.so.6", "/usr/lib/libc.so.6", "/usr/lib/libc.so.6" },
	};
	char buf[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf[short_name(buf, cases[i].s, strlen(cases[i].s), 3)] = 0;
		assert_string_equal(buf, cases[i].with_class);
		buf[short_name(buf, cases[i].s, strlen(cases[i].s), 4)] = 0;
		assert_string_equal(buf, cases[i].method);
	}
}

static void numbers_are_written_for_people(void **state)
{
	char b[32];

	(void)state;
	assert_string_equal(text_percent(1, 3, b), "33.33%");
	assert_string_equal(text_percent(2, 3, b), "66.67%");
	assert_string_equal(text_percent(UINT64_MAX, UINT64_MAX, b), "100.00%");
	assert_string_equal(text_percent(0, 0, b), "0.00%");
	assert_string_equal(text_seconds(999, b), "999 ns");
	assert_string_equal(text_seconds(1000, b), "1.000 \xc2\xb5s");
	assert_string_equal(text_seconds(UINT64_MAX, b), "18446744073.709 s");
}

static void a_full_disk_is_reported(void **state)
{
	struct shot *s = *state;
	struct render_opts opts = { 0 };
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	tree_add(&s->p, "main 5");
	assert_true(renderer_svg.render(&s->p, &opts, out) < 0);
	fclose(out);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(says_what_a_box_is), TEST(tells_kinds_apart), TEST(legend_names_only_what_is_there),
		TEST(shows_the_facts), TEST(losses_are_never_silent), TEST(a_long_warning_is_wrapped_not_cut),
		TEST(says_that_there_is_nothing), TEST(hides_and_says_so), TEST(tips_are_cut_off_and_said), TEST(folded_recursion_is_counted),
		TEST(the_first_answer_comes_first), TEST(differences_are_coloured), TEST(says_what_stands_above), TEST(weights_have_units), TEST(huge_weights_keep_their_places),
		TEST(foreign_names_stay_text), TEST(a_given_title_is_escaped_once), TEST(printed_widths_nest),
		TEST(equal_input_gives_equal_output), TEST(a_large_tree_is_quick),
		TEST(labels_fit_and_keep_characters_whole), TEST(names_take_shorter_forms), TEST(labels_are_what_people_read), TEST(paths_end_in_the_method), TEST(numbers_are_written_for_people),
		TEST(a_full_disk_is_reported),
	};

	if (system("command -v xmllint >/dev/null"))
		print_message("SKIP: xmllint is missing, well-formedness is not checked\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
