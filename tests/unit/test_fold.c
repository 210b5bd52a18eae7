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

#include "src/base/intern.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/profile/tree_builder.h"
#include "tests/unit/events_fixture.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_files.h"
#include "tests/unit/trace_fixture.h"

static const struct query wall = { .weight = WEIGHT_WALL };
static struct profile *prof;
static char *text;

/* "all;thread;main_[k]": the suffixes are those of tree.h. */
static void put_path(FILE *out, const struct profile *p, uint32_t n)
{
	static const char *const kinds[FRAME_KINDS] = { "", "_[k]", "_[j]", "_[b]", "" };
	uint32_t path[TREE_MAX_DEPTH + 1];
	size_t nr = 0;

	for (; n; n = p->nodes[n].parent)
		path[nr++] = n;
	while (nr--) {
		const struct node *nd = &p->nodes[path[nr]];

		fprintf(out, "%s%s%s%s%s%s", profile_name(p, nd->name), kinds[nd->kind],
			nd->flags & NODE_INLINED ? "_[i]" : "", nd->flags & NODE_GUESSED ? "_[g]" : "",
			nd->flags & NODE_SYNTHETIC ? "_[s]" : "", nr ? ";" : "");
	}
}

static uint32_t next_node(const struct profile *p, uint32_t n)
{
	if (p->nodes[n].first_child != NODE_NONE)
		return p->nodes[n].first_child;
	while (n != NODE_NONE && p->nodes[n].next_sibling == NODE_NONE)
		n = p->nodes[n].parent;
	return n == NODE_NONE ? n : p->nodes[n].next_sibling;
}

/*
 * All nodes with samples of their own, one line each with their number, in the order of the tree; sums of samples
 * and of weights are checked by the way.
 */
static char *folded(const struct profile *p)
{
	char *s;
	size_t len, met = 0;
	FILE *out = open_memstream(&s, &len);

	for (uint32_t n = 0; n != NODE_NONE; n = next_node(p, n)) {
		uint64_t sum = p->nodes[n].self_samples, weight = p->nodes[n].self;

		for (uint32_t c = p->nodes[n].first_child; c != NODE_NONE; c = p->nodes[c].next_sibling) {
			assert_int_equal(p->nodes[c].parent, n);
			assert_int_equal(p->nodes[c].depth, p->nodes[n].depth + 1);
			sum += p->nodes[c].total_samples;
			weight += p->nodes[c].total;
		}
		assert_int_equal(p->nodes[n].total_samples, sum);
		assert_true(p->nodes[n].total == weight);
		met++;
		if (!p->nodes[n].self_samples)
			continue;
		put_path(out, p, n);
		fprintf(out, " %llu\n", (unsigned long long)p->nodes[n].self_samples);
	}
	assert_int_equal(met, p->nr_nodes);
	fclose(out);
	return s;
}

static const char *fold_file(const char *name, const struct query *q, const struct fold_options *opts)
{
	struct report *rep;

	profile_free(prof);
	free(text);
	prof = NULL;
	text = NULL;
	assert_int_equal(report_open(trace_file(name), q, &rep), 0);
	assert_int_equal(fold_report(rep, opts, &prof), 0);
	report_close(rep);
	return text = folded(prof);
}

/* The node of this name that comes first in the tree. */
static const struct node *node_named(const char *name)
{
	for (uint32_t n = 0; n != NODE_NONE; n = next_node(prof, n))
		if (!strcmp(profile_name(prof, prof->nodes[n].name), name))
			return &prof->nodes[n];
	fail_msg("no node %s", name);
	return NULL;
}

#define HANDLE "_start;main;handle_request(int);parse_header_[i]"
#define SLEEP "entry_SYSCALL_64_[k];do_syscall_64_[k];schedule_[k]"

static void folds_the_fixture(void **state)
{
	(void)state;
	assert_string_equal(fold_file("fixture.pbz", &wall, NULL),
		"kworker/0:1_[s];kthread_[k];schedule_[k] 1\n"
		"server_[s];" HANDLE ";" SLEEP " 1\n"
		"worker_[s];[on_cpu]_[s] 1\n");
	assert_int_equal(prof->nodes[0].total, FIX_SCAN_ROWS);
	assert_string_equal(fold_file("fixture.pbz", NULL, NULL),
		"server_[s];" HANDLE ";[server+0x7700]_[g] 1\n"
		"server_[s];" HANDLE ";hot_loop 2\n"
		"worker_[s];[truncated: no-fde]_[s];[unknown] 1\n"
		"worker_[s];" HANDLE ";" SLEEP " 1\n");
	assert_string_equal(profile_name(prof, prof->nodes[0].name), "all");
	assert_int_equal(prof->nodes[0].parent, NODE_NONE);
	assert_int_equal(prof->nodes[0].total, FIX_CPU_SAMPLES * FIX_PERIOD);
	assert_int_equal(prof->nodes[0].total_samples, FIX_CPU_SAMPLES);
	assert_int_equal(node_named("hot_loop")->self, 2 * FIX_PERIOD);
	assert_int_equal(node_named("server")->total, 3 * FIX_PERIOD);
	assert_string_equal(profile_name(prof, node_named("hot_loop")->binary), "/usr/bin/server");
	assert_string_equal(profile_name(prof, node_named("schedule")->binary), "[kernel.kallsyms]");
	assert_int_equal(node_named("worker")->binary, 0);
	assert_string_equal(profile_name(prof, node_named("hot_loop")->file), "src/server.cc");
	assert_int_equal(node_named("hot_loop")->line, 70);
}

static void facts_outlive_the_report(void **state)
{
	const struct profile_facts *f;

	(void)state;
	fold_file("fixture.pbz", NULL, NULL);
	f = &prof->facts;
	assert_string_equal(f->host, "fixture");
	assert_string_equal(f->event, "cpu-clock");
	assert_string_equal(f->unit, "ns");
	assert_string_equal(f->noun, "samples");
	assert_string_equal(f->shown, "CPU time (cpu-clock, 99 Hz). Also recorded: snapshot; see --event");
	assert_string_equal(f->amount, "50.5 ms of CPU time in 5 samples");
	assert_string_equal(f->title, "server, CPU time, 50.5 ms, 5 samples");
	assert_int_equal(f->weight, FIX_CPU_SAMPLES * FIX_PERIOD);
	assert_string_equal(f->warning, "9 samples lost (ring-full 7, throttled 2)");
	assert_int_equal(f->samples, FIX_CPU_SAMPLES);
	assert_int_equal(f->samples_total, FIX_CPU_SAMPLES);
	assert_int_equal(f->lost, FIX_LOST);
	assert_int_equal(f->roots, 4);
	assert_int_equal(f->user_stacks, 5);
	fold_file("fixture.pbz", &wall, NULL);
	assert_string_equal(prof->facts.amount, "1 snapshot, 3 thread states");
	assert_string_equal(prof->facts.title, "fixture, wall time, 1 snapshot, 3 thread states");
	assert_string_equal(prof->facts.noun, "thread states");
}

static void lines_split_functions(void **state)
{
	const struct fold_options lines = { .style = { .lines = true } };

	(void)state;
	fold_file("fixture.pbz", NULL, &lines);
	assert_non_null(strstr(text, "server_[s];_start;main:12;handle_request(int):33;parse_header:55_[i];"));
}

/* The function that others are inlined in is never left out. */
static void inlined_functions_can_be_left_out(void **state)
{
	const struct fold_options one = { .style = { .inline_depth = 1 } },
				  two = { .style = { .inline_depth = 2 } };

	(void)state;
	fold_file("fixture.pbz", NULL, &one);
	assert_null(strstr(text, "parse_header"));
	assert_non_null(strstr(text, "main;handle_request(int);hot_loop 2\n"));
	fold_file("fixture.pbz", NULL, &two);
	assert_non_null(strstr(text, "handle_request(int);parse_header_[i];hot_loop 2\n"));
}

static void offsets_split_functions(void **state)
{
	const struct fold_options offsets = { .style = { .offsets = true } };

	(void)state;
	fold_file("fixture.pbz", NULL, &offsets);
	assert_non_null(strstr(text, "server_[s];_start+0x10;main+0x34;handle_request(int)+0x40;parse_header_[i];"
			       "hot_loop+0x10 2\n"));
	assert_non_null(strstr(text, ";[server+0x7700]_[g] 1\n"));
}

static void only_what_was_asked_for(void **state)
{
	struct query q = { .states = 1u << TASK_IDLE, .weight = WEIGHT_WALL };

	(void)state;
	assert_string_equal(fold_file("fixture.pbz", &q, NULL), "kworker/0:1_[s];kthread_[k];schedule_[k] 1\n");
	assert_int_equal(prof->facts.samples, 1);
	assert_int_equal(prof->facts.samples_total, FIX_SCAN_ROWS);
	assert_int_equal(prof->facts.user_stacks, 0);
	q.states = 1u << TASK_ZOMBIE;
	assert_string_equal(fold_file("fixture.pbz", &q, NULL), "");
	assert_int_equal(prof->nr_nodes, 1);
}

/* Ids mean other things in the second recording, the period of the event as well. */
static int emit_other(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = 0;

	FIX_SEND(STRING, string, { 1, "other", 5 });
	FIX_SEND(STRING, string, { 2, "worker", 6 });
	FIX_SEND(STRING, string, { 3, "/lib/x.so", 9 });
	FIX_SEND(STRING, string, { 4, "cpu-clock", 9 });
	FIX_SEND(STRING, string, { 5, "ns", 2 });
	FIX_SEND(EVENT, event, { .id = 7, .name = 4, .unit = 5, .kind = EVENT_CPU_CLOCK, .period = 3 });
	FIX_SEND(BINARY, binary, { .id = 1, .kind = BINARY_ELF, .path = 3 });
	FIX_SEND(PROCESS, process, { .id = 1, .tgid = 5, .comm = 1 });
	FIX_SEND(THREAD, thread, { 1, 1, 5, 2, 0, 0 });
	FIX_SEND(FRAME, frame, { .id = 1, .kind = FRAME_USER, .binary = 1, .addr = 0x99 });
	FIX_SEND(NODE, node, { 1, 0, 1 });
	FIX_SEND(SAMPLE, sample, { .time_ns = 5, .event = 7, .thread = 1, .ustack = 1, .end = END_ROOT });
	FIX_SEND(SAMPLE, sample, { .time_ns = 6, .event = 7, .thread = 1, .ustack = 1, .end = END_FP_END });
	FIX_SEND(END, end, { .time_ns = 7, .samples = 2, .target_status = -1 });
	return err;
}

static void recordings_are_folded_together(void **state)
{
	(void)state;
	trace_file_write("other.pbz", emit_other);
	trace_file_join("both.pbz", "fixture.pbz", "other.pbz");
	fold_file("both.pbz", NULL, NULL);
	assert_non_null(strstr(text, "server_[s];" HANDLE ";hot_loop 2\n"));
	assert_non_null(strstr(text, "worker_[s];[x.so+0x99] 2\n"));
	assert_null(strstr(text, "other"));
	assert_int_equal(prof->nodes[0].total_samples, FIX_CPU_SAMPLES + 2);
	assert_int_equal(prof->nodes[0].total, FIX_CPU_SAMPLES * FIX_PERIOD + 2 * 3);
	assert_int_equal(node_named("[x.so+0x99]")->self, 2 * 3);

	trace_file_join("twice.pbz", "fixture.pbz", "fixture.pbz");
	fold_file("twice.pbz", NULL, NULL);
	assert_non_null(strstr(text, "server_[s];" HANDLE ";hot_loop 4\n"));
	assert_int_equal(prof->nodes[0].total_samples, 2 * FIX_CPU_SAMPLES);
}

/* Three functions of one name: two tiers of one script's, and one of another script. */
static int emit_scripts(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = 0;

	FIX_SEND(STRING, string, { 1, "next", 4 });
	FIX_SEND(STRING, string, { 2, "/a.js", 5 });
	FIX_SEND(STRING, string, { 3, "/b.js", 5 });
	FIX_SEND(STRING, string, { 4, "cpu-clock", 9 });
	FIX_SEND(STRING, string, { 5, "ns", 2 });
	FIX_SEND(EVENT, event, { .id = 1, .name = 4, .unit = 5, .kind = EVENT_CPU_CLOCK, .period = 1 });
	FIX_SEND(BINARY, binary, { .id = 1, .kind = BINARY_ANON });
	FIX_SEND(PROCESS, process, { .id = 1, .tgid = 5, .comm = 1 });
	FIX_SEND(THREAD, thread, { 1, 1, 5, 1, 0, 0 });
	for (uint32_t i = 1; i <= 3; i++) {
		const uint8_t tier = i == 2 ? TIER_INTERPRETED : TIER_OPTIMIZED;

		FIX_SEND(FRAME, frame, { .id = i, .kind = FRAME_JIT, .binary = 1, .addr = i });
		FIX_SEND(NODE, node, { i, 0, i });
		FIX_SEND(FUNC, func, { .id = i, .name = 1, .sysname = 1, .file = i < 3 ? 2 : 3, .start_line = 7,
				       .flags = (uint8_t)(FUNC_JIT | tier << FUNC_TIER_SHIFT) });
		FIX_SEND(SYMBOL, symbol, { .frame = i, .lines = &(struct rec_line){ i, 0, 0, 0 }, .nr_lines = 1 });
		FIX_SEND(SAMPLE, sample, { .time_ns = 5, .event = 1, .thread = 1, .ustack = i, .end = END_ROOT });
	}
	FIX_SEND(END, end, { .time_ns = 7, .samples = 3, .target_status = -1 });
	return err;
}

static void functions_of_scripts(void **state)
{
	const struct node *a;

	(void)state;
	trace_file_write("scripts.pbz", emit_scripts);
	assert_string_equal(fold_file("scripts.pbz", NULL, NULL), "next_[s];next_[j] 2\nnext_[s];next_[j] 1\n");
	a = &prof->nodes[prof->nodes[prof->nodes[0].first_child].first_child];
	assert_string_equal(profile_name(prof, a->file), "/a.js");
	assert_string_equal(profile_name(prof, a->binary), "/a.js");
	assert_int_equal(a->line, 7);
	assert_int_equal(a->flags, NODE_INTERPRETED | NODE_OPTIMIZED);
	assert_string_equal(profile_name(prof, prof->nodes[a->next_sibling].binary), "/b.js");
}

enum { HOSTILE_THREADS = 5 };

/* Functions of one name in two binaries and in two kinds, names that no program has, stacks of nothing. */
static int emit_hostile(struct trace_writer *w)
{
	static const char *const names[] = { "\xff\xfe", ";", "a;b 1\n", "\033[31m", "all" };
	static char huge[100000];
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = 0;

	memset(huge, 'x', sizeof(huge));
	for (uint32_t i = 0; i < HOSTILE_THREADS; i++)
		FIX_SEND(STRING, string, { i + 1, names[i], strlen(names[i]) });
	FIX_SEND(STRING, string, { 6, huge, sizeof(huge) });
	FIX_SEND(STRING, string, { 7, "with\0nul", 8 });
	FIX_SEND(STRING, string, { 8, "/b", 2 });
	FIX_SEND(BINARY, binary, { .id = 1, .kind = BINARY_ELF, .path = 1 });
	FIX_SEND(BINARY, binary, { .id = 2, .kind = 200, .path = 8 });
	FIX_SEND(PROCESS, process, { .id = 1, .tgid = 5, .comm = 1 });
	for (uint32_t i = 0; i < HOSTILE_THREADS; i++)
		FIX_SEND(THREAD, thread, { i + 1, 1, i, i + 1, 0, 0 });
	FIX_SEND(THREAD, thread, { 6, 1, 6, 0, 0, 0 });
	for (uint32_t i = 1; i <= 4; i++)
		FIX_SEND(FRAME, frame, { .id = i, .kind = i == 3 ? FRAME_JIT : FRAME_USER, .binary = i == 2 ? 2 : 1,
					 .addr = UINT64_MAX - i });
	for (uint32_t i = 1; i <= 4; i++)
		FIX_SEND(NODE, node, { i, i - 1, i });
	for (uint32_t i = 1; i <= 2; i++)
		FIX_SEND(FUNC, func, { .id = i, .name = i + 5, .sysname = i + 5 });
	for (uint32_t i = 1; i <= 4; i++)
		FIX_SEND(SYMBOL, symbol, { .frame = i, .lines = &(struct rec_line){ i == 4 ? 1 : 2, 0, 0, 0 }, .nr_lines = 1 });
	for (uint32_t i = 1; i <= 6; i++)
		FIX_SEND(SAMPLE, sample, { .time_ns = i, .thread = i, .ustack = i > 4 ? 0 : i, .kstack = i == 1 ? 4 : 0,
					   .end = i == 6 ? 250 : i == 5 ? END_NO_MM : END_ROOT, .state = 99 });
	return err;
}

static void hostile_names_and_numbers(void **state)
{
	const struct node *n;

	(void)state;
	trace_file_write("hostile.pbz", emit_hostile);
	fold_file("hostile.pbz", NULL, NULL);
	assert_int_equal(prof->nodes[0].total, 6);
	assert_non_null(strstr(text, "[no name]_[s];[?]_[s] 1\n"));
	assert_non_null(strstr(text, "all_[s];[no-mm]_[s] 1\n"));
	n = node_named("with");		/* C strings end at the NUL */
	assert_int_equal(n->kind, FRAME_USER);
	/* The same name in another binary and of another kind: three levels, not one. */
	assert_non_null(strstr(text, "with;with;with_[j]"));
	assert_true(prof->facts.incomplete);
}

/* f of /a, f of /b, f as a JIT's, f inlined into f; the first of them twice, at two addresses. */
static int emit_namesakes(struct trace_writer *w)
{
	static const struct rec_line twice[] = { { 1, 8, 0, 0 }, { 1, 9, 0, 0 } };
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = 0;

	FIX_SEND(STRING, string, { 1, "f", 1 });
	FIX_SEND(STRING, string, { 2, "/a", 2 });
	FIX_SEND(STRING, string, { 3, "/b", 2 });
	FIX_SEND(BINARY, binary, { .id = 1, .path = 2 });
	FIX_SEND(BINARY, binary, { .id = 2, .path = 3 });
	FIX_SEND(PROCESS, process, { .id = 1, .comm = 1 });
	FIX_SEND(THREAD, thread, { 1, 1, 1, 1, 0, 0 });
	for (uint32_t i = 1; i <= 5; i++)
		FIX_SEND(FRAME, frame, { .id = i, .kind = i == 3 ? FRAME_JIT : FRAME_USER, .addr = i,
					 .binary = i == 2 ? 2 : 1 });
	for (uint32_t i = 1; i <= 5; i++)
		FIX_SEND(NODE, node, { i, 0, i });
	FIX_SEND(FUNC, func, { .id = 1, .name = 1, .sysname = 1 });
	for (uint32_t i = 1; i <= 5; i++)
		FIX_SEND(SYMBOL, symbol, { .frame = i, .lines = twice, .nr_lines = i == 4 ? 2 : 1 });
	for (uint32_t i = 1; i <= 5; i++)
		FIX_SEND(SAMPLE, sample, { .time_ns = i, .thread = 1, .ustack = i, .end = END_ROOT });
	FIX_SEND(SAMPLE, sample, { .time_ns = 6, .thread = 1, .ustack = 1, .end = END_BUSY });
	return err;
}

static void only_equals_are_merged(void **state)
{
	(void)state;
	trace_file_write("namesakes.pbz", emit_namesakes);
	assert_string_equal(fold_file("namesakes.pbz", NULL, NULL),
		"f_[s];[truncated: busy]_[s];f 1\n"
		"f_[s];f 2\n"			/* /a: frames 1 and 5; 4 is its caller's */
		"f_[s];f;f_[i] 1\n"
		"f_[s];f 1\n"			/* /b */
		"f_[s];f_[j] 1\n");
}

/* Two functions whose names, of C++ templates, differ in their last letter only. */
static int emit_long_names(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	static char name[20000];
	void *ctx = w;
	int err = 0;

	memset(name, 'T', sizeof(name));
	FIX_SEND(STRING, string, { 1, name, sizeof(name) });
	name[sizeof(name) - 1] = 'U';
	FIX_SEND(STRING, string, { 2, name, sizeof(name) });
	FIX_SEND(PROCESS, process, { .id = 1, .comm = 1 });
	FIX_SEND(THREAD, thread, { 1, 1, 1, 1, 0, 0 });
	for (uint32_t i = 1; i <= 2; i++) {
		FIX_SEND(FRAME, frame, { .id = i, .addr = i });
		FIX_SEND(NODE, node, { i, 0, i });
		FIX_SEND(FUNC, func, { .id = i, .name = i, .sysname = i });
		FIX_SEND(SYMBOL, symbol, { .frame = i, .lines = &(struct rec_line){ i, 7, 0, 0 }, .nr_lines = 1 });
		FIX_SEND(SAMPLE, sample, { .time_ns = i, .thread = 1, .ustack = i, .end = END_ROOT });
	}
	return err;
}

static void long_names_with_lines_stay_whole(void **state)
{
	const struct fold_options lines = { .style = { .lines = true } };

	(void)state;
	trace_file_write("long.pbz", emit_long_names);
	fold_file("long.pbz", NULL, &lines);
	assert_non_null(strstr(text, "TT:7 1\n"));
	assert_non_null(strstr(text, "TU:7 1\n"));
}

static void a_missing_chunk_leaves_missing_names(void **state)
{
	struct query q = { 0 };
	struct report *rep;
	uint64_t samples;
	size_t len;
	char *bytes;

	(void)state;
	bytes = trace_file_load("chunks.pbz", &len);
	memset(bytes + len / 3, 0x55, 8);
	trace_file_append("damaged.pbz", "w", bytes, len);
	free(bytes);
	assert_int_equal(report_open(trace_file("damaged.pbz"), NULL, &rep), 0);
	assert_true(report_is_incomplete(rep));
	assert_non_null(strstr(report_warning(rep), "damaged"));
	report_close(rep);
	/* The EVENT records went with the chunk: what is left is counted, snapshots and others apart. */
	fold_file("damaged.pbz", NULL, NULL);
	assert_string_equal(prof->facts.unit, "samples");
	assert_true(prof->nodes[0].total == FIX_CPU_SAMPLES || prof->nodes[0].total == FIX_SCAN_ROWS);
	samples = prof->nodes[0].total;
	assert_non_null(strstr(text, "[missing]"));
	q.event = strstr(prof->facts.event, "snapshot") ? "[unknown event]" : "[unknown snapshot]";
	fold_file("damaged.pbz", &q, NULL);
	assert_int_equal(prof->nodes[0].total + samples, FIX_SAMPLES);
}

/* The definitions are in the first chunk, the samples in the second. */
static int emit_chunks(struct trace_writer *w)
{
	int err = fixture_emit_facts(trace_writer_record, w);

	err = err ? err : fixture_emit_tasks(trace_writer_record, w);
	err = err ? err : fixture_emit_stacks(trace_writer_record, w);
	err = err ? err : trace_writer_flush(w);
	return err ? err : fixture_emit_samples(trace_writer_record, w);
}

static void check_shares(const char *event, const char *unit, uint64_t main_work, uint64_t leaf, const char *amount)
{
	struct query q = { .event = event };

	fold_file("events.pbz", &q, NULL);
	assert_string_equal(prof->facts.event, event);
	assert_string_equal(prof->facts.unit, unit);
	assert_string_equal(prof->facts.amount, amount);
	assert_int_equal(node_named("appcpp")->total, main_work);
	assert_int_equal(node_named("worker")->total, leaf);
	assert_int_equal(prof->facts.weight, prof->nodes[0].total);
}

static void weights_are_those_of_the_event(void **state)
{
	(void)state;
	check_shares("page-faults", "count", 100, 250, "350 page-faults in 2 samples");
	check_shares("alloc", "bytes", 1000000, 3000000, "4.0 MB in 2 samples");
	check_shares("snapshot", "ns", 2000000000, 1000000000, "2 snapshots, 3 thread states");
	check_shares("cpu-clock", "ns", 2 * EVENTS_PERIOD, EVENTS_PERIOD, "40.4 ms of CPU time in 4 samples");
	assert_string_equal(prof->facts.title, "appcpp, CPU time, 40.4 ms, 4 samples");
	assert_string_equal(prof->facts.shown, "CPU time (cpu-clock, 99 Hz). Also recorded: page-faults, alloc, "
					       "snapshot; see --event");
}

static void unlike_units_are_never_added(void **state)
{
	(void)state;
	fold_file("unlike.pbz", NULL, NULL);
	assert_int_equal(prof->nodes[0].total, 4 * EVENTS_PERIOD + EVENTS_OTHER_PERIOD);
	assert_int_equal(prof->nodes[0].total_samples, 5);
	assert_string_equal(prof->facts.title, "appcpp, CPU time, 60.8 ms, 5 samples");
	assert_string_equal(prof->facts.shown, "CPU time (cpu-clock, 99 Hz and others). Also recorded: page-faults, "
					       "alloc, snapshot, cycles; see --event");
}

/* Three samples that weigh nearly 2^64 each, in two stacks. */
static int emit_heavy(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = events_emit_names(fn, ctx, "probee");

	FIX_SEND(EVENT, event, { 1, EV_ALLOC, EVENT_UPROBE, 0, UINT64_MAX, EV_BYTES });
	err = err ? err : events_emit_sample(fn, ctx, 1, 1, 1, 3, UINT64_MAX / 2);
	err = err ? err : events_emit_sample(fn, ctx, 2, 1, 2, 3, UINT64_MAX - 5);
	return err ? err : events_emit_sample(fn, ctx, 3, 1, 1, 3, 0);
}

static void weights_do_not_wrap(void **state)
{
	(void)state;
	trace_file_write("heavy.pbz", emit_heavy);
	fold_file("heavy.pbz", NULL, NULL);	/* folded() checks the sums */
	assert_true(prof->nodes[0].total == UINT64_MAX);
	assert_true(prof->facts.weight == UINT64_MAX);
	assert_int_equal(prof->nodes[0].total_samples, 3);
	assert_true(node_named("appcpp")->total == UINT64_MAX);
	assert_true(node_named("worker")->total == 0);
}

static void the_tree_has_limits(void **state)
{
	struct tree_builder b;
	struct node key = { .kind = FRAME_USER };
	char name[16];
	uint32_t at = 0;

	(void)state;
	profile_free(prof);
	assert_int_equal(tree_builder_init(&b), 0);
	b.max_depth = 4;
	b.max_nodes = 20;
	key.name = tree_builder_name(&b, "f", 1);
	for (int i = 0; i < 100; i++)
		at = tree_builder_child(&b, at, &key);
	tree_builder_add(&b, at, 1, 1);
	for (int i = 0; i < 100; i++) {
		key.name = tree_builder_name(&b, name, (size_t)snprintf(name, sizeof(name), "n%02d", i));
		tree_builder_add(&b, tree_builder_child(&b, 0, &key), 1, 1);
	}
	prof = tree_builder_take(&b);
	tree_builder_release(&b);
	assert_non_null(prof);
	free(text);
	text = folded(prof);
	assert_int_equal(prof->nodes[0].total, 101);
	assert_true(prof->nr_nodes < 45);
	assert_non_null(strstr(text, "f;f;f;[deeper]_[s] 1\n"));
	assert_non_null(strstr(text, "n00 1\n"));
	assert_non_null(strstr(text, "[too many stacks]_[s] 8"));
}

static int setup(void **state)
{
	(void)state;
	if (trace_files_begin() || trace_fixture_write(trace_file("fixture.pbz")))
		return -1;
	trace_file_write("chunks.pbz", emit_chunks);
	trace_file_write("events.pbz", events_emit);
	trace_file_write("more.pbz", events_emit_more);
	trace_file_join("unlike.pbz", "events.pbz", "more.pbz");
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
		cmocka_unit_test(folds_the_fixture),
		cmocka_unit_test(facts_outlive_the_report),
		cmocka_unit_test(lines_split_functions),
		cmocka_unit_test(inlined_functions_can_be_left_out),
		cmocka_unit_test(offsets_split_functions),
		cmocka_unit_test(long_names_with_lines_stay_whole),
		cmocka_unit_test(only_what_was_asked_for),
		cmocka_unit_test(recordings_are_folded_together),
		cmocka_unit_test(functions_of_scripts),
		cmocka_unit_test(hostile_names_and_numbers),
		cmocka_unit_test(only_equals_are_merged),
		cmocka_unit_test(a_missing_chunk_leaves_missing_names),
		cmocka_unit_test(weights_are_those_of_the_event),
		cmocka_unit_test(unlike_units_are_never_added),
		cmocka_unit_test(weights_do_not_wrap),
		cmocka_unit_test(the_tree_has_limits),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
