/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The roots of a call tree (--by), filters by name, repeats that are folded, and the nodes of single
 * samples.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/trace/trace_writer.h"
#include "src/base/opt.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_files.h"
#include "tests/unit/trace_fixture.h"

#define FUTEX_X86_64 203		/* number plus 1 */

enum { S_MAIN = 1, S_A, S_B, S_JAVA, S_GC, S_CC1, S_CGROUP, S_KWORKER, S_UNIT };

static const char *const strings[] = { NULL, "main", "a", "b", "java", "GC Thread", "cc1", "/web",
				       "kworker/0:1", "ns" };
static const struct opt by_row = { .name = "by" };
static struct profile *prof;
static char *text;

static const struct rec_process processes[] = {
	{ .id = 1, .tgid = 10, .comm = S_JAVA, .uid = 0, .cgroup = S_CGROUP },
	{ .id = 2, .tgid = 20, .comm = S_JAVA, .uid = 1000 },
	{ .id = 3, .tgid = 30, .comm = S_CC1, .uid = 1000 },
	{ .id = 4, .tgid = 7, .comm = S_KWORKER, .flags = PROCESS_KTHREAD },
};

static const struct rec_thread threads[] = {
	{ .id = 1, .process = 1, .tid = 10, .comm = S_JAVA },
	{ .id = 2, .process = 1, .tid = 11, .comm = S_GC },
	{ .id = 3, .process = 2, .tid = 20, .comm = S_JAVA },
	{ .id = 4, .process = 3, .tid = 30, .comm = S_CC1 },
	{ .id = 5, .process = 4, .tid = 7, .comm = S_KWORKER },
};

/* main, main;a, main;a;b, main;a;b;a, main;a;b;a;b, main;a;b;a;b;a;a */
static const struct rec_node nodes[] = { { 1, 0, 1 }, { 2, 1, 2 }, { 3, 2, 3 }, { 4, 3, 2 },
					 { 5, 4, 3 }, { 6, 5, 2 }, { 7, 6, 2 } };

static const struct rec_sample samples[] = {
	{ .thread = 1, .cpu = 0, .ustack = 2, .state = TASK_RUNNING, .weight = 1 },
	{ .thread = 2, .cpu = UINT32_MAX, .ustack = 3, .state = TASK_SLEEPING, .weight = 2,
	  .syscall = FUTEX_X86_64 },
	{ .thread = 3, .cpu = 1, .ustack = 5, .state = TASK_RUNNABLE, .weight = 4 },
	{ .thread = 4, .cpu = 1, .ustack = 7, .state = TASK_DISK, .weight = 8 },
	{ .thread = 5, .cpu = 0, .ustack = 0, .state = TASK_RUNNING, .weight = 16 },
};

#define ENDLESS "(*NO_START_OPT)(\\w|.|\\S|[^x])*(\\w|.|\\S|[^x])*(\\w|.|\\S|[^x])*Z"
#define NR(v) (sizeof(v) / sizeof((v)[0]))

static int emit(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = 0;

	FIX_SEND(META, meta, { "arch", "x86_64", 6 });
	for (uint32_t i = 1; i < NR(strings); i++)
		FIX_SEND(STRING, string, { i, strings[i], (uint32_t)strlen(strings[i]) });
	for (size_t i = 0; i < NR(processes); i++)
		FIX_SEND(PROCESS, process, processes[i]);
	for (uint32_t i = 5; i < 14; i++)
		FIX_SEND(PROCESS, process, { .id = i, .tgid = i * 100, .comm = S_CC1 });
	for (size_t i = 0; i < NR(threads); i++)
		FIX_SEND(THREAD, thread, threads[i]);
	for (uint32_t i = 1; i <= 3; i++)
		FIX_SEND(FRAME, frame, { .id = i, .addr = i });
	for (size_t i = 0; i < NR(nodes); i++)
		FIX_SEND(NODE, node, nodes[i]);
	FIX_SEND(EVENT, event, { .id = 1, .name = S_A, .kind = EVENT_CPU_CLOCK, .unit = S_UNIT });
	for (uint32_t i = 1; i <= 3; i++)
		FIX_SEND(FUNC, func, { .id = i, .name = i, .sysname = i });
	for (uint32_t i = 1; i <= 3; i++)
		FIX_SEND(SYMBOL, symbol, { .frame = i, .nr_lines = 1,
					   .lines = &(struct rec_line){ i, 0, 0, 0 } });
	for (size_t i = 0; i < NR(samples); i++) {
		struct rec_sample s = samples[i];

		s.time_ns = i + 1;
		s.event = 1;
		s.end = s.ustack ? END_ROOT : END_KTHREAD;
		FIX_SEND(SAMPLE, sample, s);
	}
	return err;
}

static void put_path(FILE *out, uint32_t n)
{
	if (prof->nodes[n].parent)
		put_path(out, prof->nodes[n].parent);
	fprintf(out, "%s%s", prof->nodes[n].parent ? ";" : "", profile_name(prof, prof->nodes[n].name));
}

/* All nodes with a weight of their own, in the order of their indices. */
static const char *paths(void)
{
	size_t len;
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	for (uint32_t n = 0; n < prof->nr_nodes; n++) {
		if (!prof->nodes[n].self)
			continue;
		if (n)
			put_path(out, n);
		fprintf(out, " %llu\n", (unsigned long long)prof->nodes[n].self);
	}
	fclose(out);
	return text;
}

static struct query query;

static const char *folded(const char *by, bool fold_recursion)
{
	struct fold_options opts = { .style = { .fold_recursion = fold_recursion } };
	struct report *rep;

	assert_int_equal(by ? fold_by_parse(&by_row, by, &opts.by) : 0, 0);
	profile_free(prof);
	assert_int_equal(report_open(trace_file("roots.pbz"), &query, &rep), 0);
	assert_int_equal(fold_report(rep, &opts, &prof), 0);
	report_close(rep);
	return paths();
}

static void each_level_has_its_label(void **state)
{
	(void)state;
	assert_string_equal(folded(NULL, false), "kworker/0:1 16\njava;main;a 1\nGC Thread;main;a;b 2\n"
						 "java;main;a;b;a;b 4\ncc1;main;a;b;a;b;a;a 8\n");
	assert_string_equal(folded("process", false),
			    "kworker/0:1 (7) 16\njava (10);main;a 1\njava (10);main;a;b 2\n"
			    "java (20);main;a;b;a;b 4\ncc1 (30);main;a;b;a;b;a;a 8\n");
	assert_string_equal(folded("thread", false),
			    "kworker/0:1 (7) 16\njava (10);main;a 1\nGC Thread (11);main;a;b 2\n"
			    "java (20);main;a;b;a;b 4\ncc1 (30);main;a;b;a;b;a;a 8\n");
	assert_string_equal(folded("cpu", false), "CPU 0 16\nCPU 0;main;a 1\noff CPU;main;a;b 2\n"
						  "CPU 1;main;a;b;a;b 4\nCPU 1;main;a;b;a;b;a;a 8\n");
	assert_string_equal(folded("user,cgroup", false),
			    "uid 0;[no cgroup] 16\nuid 0;/web;main;a 1\nuid 0;/web;main;a;b 2\n"
			    "uid 1000;[no cgroup];main;a;b;a;b 4\n"
			    "uid 1000;[no cgroup];main;a;b;a;b;a;a 8\n");
	assert_string_equal(folded("host,cpu", false),
			    "[no host];CPU 0 16\n[no host];CPU 0;main;a 1\n[no host];off CPU;main;a;b 2\n"
			    "[no host];CPU 1;main;a;b;a;b 4\n[no host];CPU 1;main;a;b;a;b;a;a 8\n");
	assert_string_equal(folded("none", false),
			    " 16\nmain;a 1\nmain;a;b 2\nmain;a;b;a;b 4\nmain;a;b;a;b;a;a 8\n");
}

/* Two programs of one name have their numbers; ten compilers are one; kernel threads are one. */
static void programs_are_few(void **state)
{
	(void)state;
	assert_string_equal(folded("program,comm", false),
			    "[kernel threads];kworker/0:1 16\njava (10);main;a 1\n"
			    "java (10);GC Thread;main;a;b 2\njava (20);main;a;b;a;b 4\n"
			    "cc1 (10 processes);main;a;b;a;b;a;a 8\n");
}

static void states_are_said_in_words(void **state)
{
	(void)state;
	assert_string_equal(folded("state", false),
			    "running 16\nrunning;main;a 1\n"
			    "waiting for a lock or another thread (futex);main;a;b 2\n"
			    "waiting for a CPU;main;a;b;a;b 4\n"
			    "waiting for a disk or file server (D);main;a;b;a;b;a;a 8\n");
}

static void cycles_are_folded(void **state)
{
	(void)state;
	assert_string_equal(folded("comm", true), "kworker/0:1 16\njava;main;a 1\nGC Thread;main;a;b 2\n"
						  "java;main;a;b 4\ncc1;main;a;b;a 8\n");
	assert_non_null(prof->levels);
	for (uint32_t n = 0; n < prof->nr_nodes; n++) {
		const struct node *nd = &prof->nodes[n];
		bool came_back = nd->self >= 4 || (nd->total == 8 && nd->depth == 4);

		/* "b" of java and of cc1, and the second "a" of cc1, are there twice. */
		assert_int_equal(prof->levels[n], nd->self < 16 && came_back ? 2 : 0);
	}
	folded("comm", false);
	assert_null(prof->levels);
}

/* What is left with such patterns; either may be NULL. */
static const char *filtered(const char *include, const char *also, const char *exclude)
{
	if (include)
		assert_int_equal(stack_filter_include(&by_row, include, &query.names), 0);
	if (also)
		assert_int_equal(stack_filter_include(&by_row, also, &query.names), 0);
	if (exclude)
		assert_int_equal(stack_filter_exclude(&by_row, exclude, &query.names), 0);
	folded("comm", false);
	query_release(&query);
	return text;
}

static void names_choose_samples(void **state)
{
	(void)state;
	assert_string_equal(filtered("^b$", NULL, NULL), "GC Thread;main;a;b 2\njava;main;a;b;a;b 4\n"
							 "cc1;main;a;b;a;b;a;a 8\n");
	assert_string_equal(filtered("^b$", NULL, "cc."), "GC Thread;main;a;b 2\n"
							  "java;main;a;b;a;b 4\n");
	assert_string_equal(filtered("GC", "kwork", NULL), "kworker/0:1 16\nGC Thread;main;a;b 2\n");
	/* The thread "GC Thread" is of the process "java". */
	assert_string_equal(filtered(NULL, NULL, "(?i)JAVA"),
			    "kworker/0:1 16\ncc1;main;a;b;a;b;a;a 8\n");
	assert_string_equal(filtered("nothing", NULL, NULL), "");
}

static void filters_by_cpu_process_and_cgroup(void **state)
{
	(void)state;
	query.cpus = (struct id_list){ .v = malloc(4), .nr = 1, .cap = 1 };
	query.cpus.v[0] = 1;
	assert_string_equal(filtered(NULL, NULL, NULL), "java;main;a;b;a;b 4\n"
							"cc1;main;a;b;a;b;a;a 8\n");
	query_parse_glob(&by_row, "j*", &query.processes);
	assert_string_equal(filtered(NULL, NULL, NULL), "java;main;a 1\nGC Thread;main;a;b 2\n"
							"java;main;a;b;a;b 4\n");
	query_parse_glob(&by_row, "/w*", &query.cgroups);
	assert_string_equal(filtered(NULL, NULL, NULL), "java;main;a 1\nGC Thread;main;a;b 2\n");
}

/* A pattern that takes for ever on a long name is given up, and the sample does not pass. */
static void wrong_and_endless_patterns(void **state)
{
	struct stack_filter f = { 0 };
	struct stack_marks marks = { 0 };
	struct report *rep;

	(void)state;
	stderr_begin();
	assert_int_equal(stack_filter_include(&by_row, "a(b", &f), -EINVAL);
	assert_string_equal(stderr_end(), "probee: --by: 'a(b' is no regular expression: missing "
					  "closing parenthesis at 3\n");
	stack_filter_release(&f);
	assert_int_equal(stack_filter_include(&by_row, ENDLESS, &f), 0);
	assert_int_equal(report_open(trace_file("roots.pbz"), NULL, &rep), 0);
	assert_false(stack_filter_passes(&f, &marks, &(struct report_sample){
		.rec = &samples[1], .tables = report_tables(rep, 0), .thread = &threads[1] }));
	assert_true(stack_filter_given_up(&f) > 0);
	stack_marks_release(&marks);
	stack_filter_release(&f);
	report_close(rep);
}

static void wrong_levels_are_refused(void **state)
{
	struct fold_by by;

	(void)state;
	stderr_begin();
	assert_int_equal(fold_by_parse(&by_row, "process,", &by), -EINVAL);
	assert_non_null(strstr(stderr_end(), "probee: --by: '' is no level. Try: one or several of "
					     "process|thread|comm|"));
	stderr_begin();
	assert_int_equal(fold_by_parse(&by_row, "cpu,cpu,cpu,cpu,cpu,cpu,cpu", &by), -EINVAL);
	assert_string_equal(stderr_end(), "probee: --by: no more than 6 levels\n");
}

struct met {
	struct fold *fold;
	uint32_t v[NR(samples)], nr;
};

static int meet(void *ctx, const struct report_sample *s)
{
	struct met *m = ctx;

	return fold_node(m->fold, s, &m->v[m->nr++]);
}

/* Folding sample by sample gives the same tree, and tells the node of each sample. */
static void samples_know_their_nodes(void **state)
{
	struct fold_options opts = { .by = { .v = { FOLD_BY_NONE }, .nr = 1 } };
	struct met m = { 0 };
	struct report *rep;
	char *whole;

	(void)state;
	whole = strdup(folded("none", false));
	assert_int_equal(report_open(trace_file("roots.pbz"), NULL, &rep), 0);
	fold_limit(&opts, rep);
	assert_int_equal(fold_new(&opts, &m.fold), 0);
	for (int round = 0; round < 2; round++) {
		m.nr = 0;
		assert_int_equal(report_samples(rep, meet, &m), 0);
	}
	profile_free(prof);
	assert_int_equal(fold_take_report(m.fold, rep, &prof), 0);
	for (uint32_t i = 0; i < m.nr; i++)
		assert_int_equal(prof->nodes[m.v[i]].self, 2 * samples[i].weight);
	assert_int_equal(prof->facts.samples, 2 * NR(samples));
	for (uint32_t n = 0; n < prof->nr_nodes; n++)
		prof->nodes[n].self /= 2;
	assert_string_equal(paths(), whole);
	free(whole);
	fold_free(m.fold);
	report_close(rep);
}

static int setup(void **state)
{
	(void)state;
	if (trace_files_begin())
		return -1;
	trace_file_write("roots.pbz", emit);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	profile_free(prof);
	free(text);
	trace_files_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_level_has_its_label),
		cmocka_unit_test(programs_are_few),
		cmocka_unit_test(states_are_said_in_words),
		cmocka_unit_test(cycles_are_folded),
		cmocka_unit_test(names_choose_samples),
		cmocka_unit_test(filters_by_cpu_process_and_cgroup),
		cmocka_unit_test(wrong_and_endless_patterns),
		cmocka_unit_test(wrong_levels_are_refused),
		cmocka_unit_test(samples_know_their_nodes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
