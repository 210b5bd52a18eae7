/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/trace/trace_writer.h"
#include "src/profile/answer.h"
#include "src/report/answer_lines.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "tests/unit/trace_files.h"
#include "tests/unit/trace_fixture.h"

static const struct query wall = { .weight = WEIGHT_WALL };

static char *text;

/* All lines, "what: text" each. */
static const char *answer(const char *file, const struct query *q)
{
	struct answer_lines lines;
	struct report *rep;
	struct answer *a;
	size_t len;
	FILE *out;

	assert_int_equal(report_open(trace_file(file), q, &rep), 0);
	assert_int_equal(answer_new(&a), 0);
	assert_int_equal(answer_add_samples(a, rep), 0);
	assert_int_equal(answer_add_scans(a, rep), 0);
	assert_int_equal(answer_lines(a, rep, &lines), 0);
	free(text);
	out = open_memstream(&text, &len);
	for (size_t i = 0; i < lines.nr; i++)
		fprintf(out, "%s: %s\n", lines.what[i], lines.text[i]);
	fclose(out);
	answer_free(a);
	report_close(rep);
	return text;
}

static void a_program_and_an_idle_kernel_thread(void **state)
{
	(void)state;
	assert_string_equal(answer("fixture.pbz", NULL),
		"time: 50.5 ms of CPU time in 60.0 ms: 0.84 CPUs on average\n"
		":   50.5 ms 100.0 %  server, most of it in hot_loop (40.0 %)\n"
		"threads: on average 1.0 running, 1.0 for a lock or another thread\n");
}

enum { S_A = 1, S_B, S_HOT, S_COLD, S_CPU, S_NS, S_SNAP };

static const char *strings[] = { NULL, "a", "b", "hot", "cold", "cpu-clock", "ns", "snapshot" };

static const struct query process_a = { .pids = { (uint32_t[]){ 1 }, 1, 0 } };

/* Processes 1 (a, with a second thread) to 8 (all b's); what each sample weighs is 1 ms. */
static int emit(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = 0;

	FIX_SEND(META, meta, { "arch", "x86_64", 6 });
	FIX_SEND(META, meta, { "cpus.online", "0-3", 3 });
	FIX_SEND(META, meta, { "cpu.busy", "samples=0.5 ticks=46", 20 });
	FIX_SEND(CLOCK, clock, { .mono_ns = 1, .real_ns = 1 });
	for (uint32_t i = 1; i <= S_SNAP; i++)
		FIX_SEND(STRING, string, { i, strings[i], (uint32_t)strlen(strings[i]) });
	for (uint32_t i = 1; i <= 8; i++)
		FIX_SEND(PROCESS, process, { .id = i, .tgid = i, .comm = i == 1 ? S_A : S_B });
	for (uint32_t i = 1; i <= 8; i++)
		FIX_SEND(THREAD, thread, { .id = i, .process = i, .tid = i, .comm = i == 1 ? S_A : S_B });
	FIX_SEND(THREAD, thread, { .id = 9, .process = 1, .tid = 20, .comm = S_COLD });
	FIX_SEND(EVENT, event, { .id = 1, .name = S_CPU, .kind = EVENT_CPU_CLOCK, .unit = S_NS, .period = 1000000 });
	FIX_SEND(EVENT, event, { .id = 2, .name = S_SNAP, .kind = EVENT_SNAPSHOT, .unit = S_NS, .period = 1000000000 });
	for (uint32_t i = 1; i <= 2; i++)
		FIX_SEND(FRAME, frame, { .id = i, .addr = i });
	for (uint32_t i = 1; i <= 2; i++)
		FIX_SEND(NODE, node, { i, 0, i });
	for (uint32_t i = 1; i <= 2; i++)
		FIX_SEND(FUNC, func, { .id = i, .name = i == 1 ? S_HOT : S_COLD });
	for (uint32_t i = 1; i <= 2; i++)
		FIX_SEND(SYMBOL, symbol, { .frame = i, .nr_lines = 1, .lines = &(struct rec_line){ i, 0, 0, 0 } });
	for (uint32_t i = 0; i < 20; i++)	/* 10 of a, 4 of its other thread, the rest of the b's */
		FIX_SEND(SAMPLE, sample, { .time_ns = 1 + i * 1000000, .event = 1, .end = END_ROOT, .cpu = 0,
					   .state = TASK_RUNNING, .ustack = i % 4 ? 1 : 2,
					   .thread = i < 10 ? 1 : i < 14 ? 9 : i - 12 });
	for (uint32_t i = 0; i < 48; i++)	/* six scans: a waits for a CPU, its thread for a disk */
		FIX_SEND(SAMPLE, sample, { .time_ns = 20000000 + i, .event = 2, .thread = i % 8 == 7 ? 9 : i % 8 + 1,
					   .end = END_ROOT, .ustack = 1, .scan = 1 + i / 8, .cpu = UINT32_MAX,
					   .state = i % 8 == 0 ? TASK_RUNNABLE : i % 8 == 7 ? TASK_DISK : TASK_SLEEPING,
					   .syscall = i % 8 == 3 ? 203 : 0 });
	for (uint32_t i = 1; i <= 6; i++)
		FIX_SEND(SCAN, scan, { .scan = i, .time_ns = 20000000, .rows = 8, .tasks_seen = 8 });
	FIX_SEND(SAMPLE, sample, { .time_ns = 40000001, .event = 1, .thread = 1, .end = END_ROOT,
				   .state = TASK_RUNNING, .ustack = 2, .cpu = 0 });
	/* Names were looked for one second longer. */
	FIX_SEND(CLOCK, clock, { .mono_ns = 1040000001, .real_ns = 1040000001 });
	FIX_SEND(END, end, { .time_ns = 40000001, .target_status = -1 });
	return err;
}

static void programs_and_what_is_wrong(void **state)
{
	(void)state;
	trace_file_write("machine.pbz", emit);
	assert_string_equal(answer("machine.pbz", NULL),
		"time: 21.0 ms of CPU time in 40.0 ms: 0.53 of 4 CPUs were busy on average\n"
		":   15.0 ms  71.4 %  a, most of it in hot (66.7 %)\n"
		":    1.0 ms   4.8 %  b (2)\n"
		":    1.0 ms   4.8 %  b (3)\n"
		":    1.0 ms   4.8 %  b (4)\n"
		":    3.0 ms  14.3 %  3 others\n"
		"threads: on average 0.0 running, 1.0 waiting for a CPU, 1.0 for a disk or file server, "
		"1.0 for a lock or another thread, 5.0 sleeping\n"
		"finding: CPU shortage: threads that could run waited for one 100.0 % of the time, "
		"most of all those of a\n"
		"finding: slow disk or file server: threads waited for it (state D) for 6.0 s in all, most of "
		"all those of a. Try: --weight wall --state D\n");
	assert_string_equal(answer("machine.pbz", &wall),
		"threads: on average 0.0 running, 1.0 waiting for a CPU, 1.0 for a disk or file server, "
		"1.0 for a lock or another thread, 5.0 sleeping\n"
		": a: 6.0 s waiting for a CPU, 6.0 s for a disk or file server\n"
		": b (4): 6.0 s for a lock or another thread\n"
		"finding: CPU shortage: threads that could run waited for one 100.0 % of the time, "
		"most of all those of a\n"
		"finding: slow disk or file server: threads waited for it (state D) for 6.0 s in all, most of "
		"all those of a. Try: --weight wall --state D\n");
}

/* Of the only program the threads are named; and it is not the machine that was busy. */
static void threads_of_the_only_program(void **state)
{
	(void)state;
	assert_string_equal(answer("machine.pbz", &process_a),
		"time: 15.0 ms of CPU time in 40.0 ms: 0.38 CPUs on average\n"
		":   11.0 ms  73.3 %  a, most of it in hot (63.6 %)\n"
		":    4.0 ms  26.7 %  cold\n"
		"threads: on average 0.0 running, 1.0 waiting for a CPU, 1.0 for a disk or file server\n"
		"finding: CPU shortage: threads that could run waited for one 100.0 % of the time, "
		"most of all those of a\n"
		"finding: slow disk or file server: threads waited for it (state D) for 6.0 s in all, most of "
		"all those of cold. Try: --weight wall --state D\n");
}

/* As people read them, and without arguments where there is no room, never cut inside of brackets. */
static void names_of_functions_fit(void **state)
{
	static const char *const cases[][2] = {
		{ "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::find(char)", "std::string::find(char)" },
		{ "void std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_construct<char*>(char*, char*, std::forward_iterator_tag)",
		  "void std::string::_M_construct" },
		{ "Bank$$Lambda$4/0x00007fcff8002a40.run", "Bank$$Lambda.run" },
		{ "a_name_without_any_brackets_that_is_longer_than_there_is_room_for_it", "a_name_without_any_brackets_that_is_longer_than_there_is_roo" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[256];

		strings[S_HOT] = cases[i][0];
		trace_file_write("named.pbz", emit);
		snprintf(want, sizeof(want), "  a, most of it in %s (66.7 %%)\n", cases[i][1]);
		assert_non_null(strstr(answer("named.pbz", NULL), want));
	}
	strings[S_HOT] = "hot";
}

static void part_of_the_time(void **state)
{
	static const struct query window = { .from = { TIME_RELATIVE, 10000000 },
					     .to = { TIME_RELATIVE, 15000000 },
					     .weight = WEIGHT_CPU };

	(void)state;
	trace_file_write("machine.pbz", emit);
	assert_non_null(strstr(answer("machine.pbz", &window),
		"time: 5.0 ms of CPU time in 5.0 ms (10.0 ms to 15.0 ms of 40.0 ms): 1.00 of 4 CPUs"));
}

/* A thread that was on a CPU until just now was put off it by the snapshot. */
static void the_snapshot_is_no_reason_to_wait(void **state)
{
	struct rec_sample rec = { .time_ns = 10000000, .state = TASK_RUNNABLE, .scan = 1,
				  .cpu = UINT32_MAX, .ran_ns = 9800000 };

	(void)state;
	assert_int_equal(sample_activity(&rec, 0), ACTIVITY_RUNNING);
	rec.ran_ns = 9000000;
	assert_int_equal(sample_activity(&rec, 0), ACTIVITY_RUN_QUEUE);
	rec.ran_ns = 0;
	assert_int_equal(sample_activity(&rec, 0), ACTIVITY_RUN_QUEUE);
	rec.ran_ns = 9800000;
	rec.state = TASK_SLEEPING;
	assert_int_equal(sample_activity(&rec, 0), ACTIVITY_SLEEPING);
}

static int setup(void **state)
{
	(void)state;
	if (trace_files_begin() || trace_fixture_write(trace_file("fixture.pbz")))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	trace_files_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_and_an_idle_kernel_thread),
		cmocka_unit_test(programs_and_what_is_wrong),
		cmocka_unit_test(threads_of_the_only_program),
		cmocka_unit_test(names_of_functions_fit),
		cmocka_unit_test(part_of_the_time),
		cmocka_unit_test(the_snapshot_is_no_reason_to_wait),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
