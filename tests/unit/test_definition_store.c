/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_load.h"
#include "src/model/definition_store.h"
#include "tests/unit/trace_fixture.h"

static struct definition_store *t;

static int setup(void **state)
{
	(void)state;
	t = definition_store_new();
	return t ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	definition_store_free(t);
	return 0;
}

#define ADD(TAG, field, ...) \
	assert_int_equal(definition_store_record(t, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ }), 0)

static struct frame_view view(uint32_t frame, uint32_t i)
{
	static char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	definition_store_frame_view(t, frame, i, buf, &v);
	assert_int_equal(strlen(v.name), v.len);
	return v;
}

static void keeps_the_fixture(void **state)
{
	const struct rec_thread *th;
	const struct rec_binary *b;
	size_t len;

	(void)state;
	assert_int_equal(trace_fixture_emit(definition_store_record, t), 0);
	assert_int_equal(tables_count(t, REC_STRING), FIX_STRINGS - 1);
	assert_int_equal(tables_count(t, REC_FRAME), 10);
	assert_int_equal(tables_count(t, REC_SYMBOL), 9);
	assert_int_equal(definition_store_id_end(t, REC_FRAME), 11);
	assert_int_equal(tables_count(t, REC_SAMPLE), 0);
	assert_int_equal(definition_store_refused(t), 0);
	assert_string_equal(definition_store_string(t, FIX_S_HANDLE, &len), "handle_request(int)");
	assert_int_equal(len, strlen("handle_request(int)"));
	th = definition_store_find_thread(t, FIX_T_WORKER);
	assert_int_equal(th->tid, 101);
	assert_int_equal(definition_store_find_process(t, th->process)->tgid, 100);
	b = definition_store_find_binary(t, FIX_B_SERVER);
	assert_int_equal(b->build_id_len, 20);
	assert_null(b->segments);
	assert_int_equal(definition_store_find_event(t, FIX_E_CPU)->freq_mhz, 99000);
	assert_int_equal(definition_store_find_node(t, 4)->outermost, 1);
	assert_int_equal(definition_store_find_node(t, 4)->parent, 3);
	assert_int_equal(definition_store_find_node(t, 11)->outermost, 10);
}

static void views_are_innermost_first(void **state)
{
	struct frame_view v;

	(void)state;
	trace_fixture_emit(definition_store_record, t);
	assert_int_equal(definition_store_frame_depth(t, 3), 2);
	v = view(3, 0);
	assert_string_equal(v.name, "parse_header");
	assert_true(v.inlined && v.named && !v.has_offset);
	assert_int_equal(v.line, 55);
	assert_int_equal(v.start_line, 50);
	v = view(3, 1);
	assert_string_equal(v.name, "handle_request(int)");
	assert_true(!v.inlined && v.named && v.has_offset);
	assert_int_equal(v.offset, 0x40);
	assert_string_equal(definition_store_string(t, v.file, NULL), "src/server.cc");
}

static void frames_without_a_name_say_where_they_are(void **state)
{
	static const struct { struct rec_frame frame; const char *name; } cases[] = {
		{ { .binary = 1, .addr = 0x10 }, "[server+0x10]" },
		{ { .binary = 2, .addr = 0x10, .kind = FRAME_KERNEL }, "[vmlinux+0x10]" },
		{ { .binary = 3, .addr = 0x10 }, "[vdso+0x10]" },
		{ { .binary = 4, .addr = 0x10 }, "[anon]" },
		{ { .binary = 5, .addr = 0x10 }, "[dir/+0x10]" },
		{ { .addr = UINT64_MAX }, "[unknown]" },
		{ { .addr = 1, .kind = FRAME_KERNEL }, "[kernel]" },
		{ { .addr = 1, .kind = FRAME_BPF }, "[bpf]" },
		{ { .addr = 1, .kind = FRAME_JIT }, "[jit]" },
		{ { .addr = 1, .binary = 99, .kind = 200 }, "[unknown]" },
	};

	(void)state;
	ADD(STRING, string, { 1, "/usr/bin/server", 15 });
	ADD(STRING, string, { 2, "[vdso]", 6 });
	ADD(STRING, string, { 3, "dir/", 4 });
	ADD(BINARY, binary, { .id = 1, .kind = BINARY_ELF, .path = 1 });
	ADD(BINARY, binary, { .id = 2, .kind = BINARY_KERNEL, .path = 1 });
	ADD(BINARY, binary, { .id = 3, .kind = BINARY_VDSO, .path = 2 });
	ADD(BINARY, binary, { .id = 4, .kind = BINARY_ANON });
	ADD(BINARY, binary, { .id = 5, .kind = BINARY_ELF, .path = 3 });
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rec_frame f = cases[i].frame;

		f.id = i + 1;
		ADD(FRAME, frame, f);
		assert_string_equal(view(i + 1, 0).name, cases[i].name);
		assert_false(view(i + 1, 0).named);
		assert_int_equal(definition_store_frame_depth(t, i + 1), 1);
	}
}

/* Addresses of one function without a name are one name, and what is in no file is one, whatever its address. */
static void functions_without_a_name_are_one(void **state)
{
	(void)state;
	ADD(STRING, string, { 1, "/usr/lib/libfoo.so.1", 20 });
	ADD(BINARY, binary, { .id = 1, .kind = BINARY_ELF, .path = 1 });
	ADD(FRAME, frame, { .id = 1, .binary = 1, .addr = 0x1a40 });
	ADD(FRAME, frame, { .id = 2, .binary = 1, .addr = 0x1a52 });
	ADD(FRAME, frame, { .id = 3, .binary = 1, .addr = 0x1a60 });
	ADD(FRAME, frame, { .id = 4, .kind = FRAME_JIT, .addr = 0x7f0000001234 });
	ADD(SYMBOL, symbol, { .frame = 1, .status = SYMBOL_STRIPPED });
	ADD(SYMBOL, symbol, { .frame = 2, .status = SYMBOL_STRIPPED, .offset = 0x12 });
	ADD(SYMBOL, symbol, { .frame = 3, .status = SYMBOL_STRIPPED, .offset = 0x1a61 });
	assert_string_equal(view(1, 0).name, "[libfoo.so.1+0x1a40]");
	assert_string_equal(view(2, 0).name, "[libfoo.so.1+0x1a40]");
	assert_true(view(2, 0).has_offset && !view(2, 0).named);
	assert_int_equal(view(2, 0).offset, 0x12);
	assert_string_equal(view(3, 0).name, "[libfoo.so.1+0x1a60]");	/* it would begin before the file */
	assert_false(view(3, 0).has_offset);
	assert_string_equal(view(4, 0).name, "[jit]");
	assert_int_equal(view(4, 0).offset, 0x7f0000001234);
}

static void what_is_not_there_is_missing(void **state)
{
	static const uint32_t ids[] = { 0, 1, 77, UINT32_MAX };

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
			uint32_t id = ids[i];

			assert_null(definition_store_find_binary(t, id));
			assert_null(definition_store_find_process(t, id));
			assert_null(definition_store_find_thread(t, id));
			assert_null(definition_store_find_frame(t, id));
			assert_null(definition_store_find_func(t, id));
			assert_null(definition_store_find_event(t, id));
			assert_null(definition_store_find_node(t, id));
			assert_null(definition_store_find_symbol(t, id));
			assert_string_equal(definition_store_string(t, id, NULL), id ? "[missing]" : "");
			assert_string_equal(view(id, 5).name, "[missing]");
		}
		/* The second round looks into gaps. */
		ADD(STRING, string, { 99, "x", 1 });
		ADD(FRAME, frame, { .id = 99 });
		ADD(THREAD, thread, { .id = 99 });
		ADD(NODE, node, { 99, 98, 99 });
		ADD(SYMBOL, symbol, { .frame = 99 });
	}
	assert_int_equal(definition_store_find_node(t, 99)->outermost, 99);
	assert_int_equal(definition_store_refused(t), 0);
}

static void symbols_of_missing_things(void **state)
{
	const struct rec_line line = { 7, 3, 0, 0 }, empty = { 1, 0, 0, 0 };

	(void)state;
	ADD(FRAME, frame, { .id = 1, .addr = 0x20 });
	ADD(FRAME, frame, { .id = 2, .addr = 0x30 });
	ADD(SYMBOL, symbol, { .frame = 1, .lines = &line, .nr_lines = 1 });
	assert_string_equal(view(1, 0).name, "[missing]");
	assert_false(view(1, 0).named);
	ADD(FUNC, func, { .id = 1 });
	ADD(SYMBOL, symbol, { .frame = 2, .lines = &empty, .nr_lines = 1 });
	assert_string_equal(view(2, 0).name, "[unknown]");	/* its name is "" */
}

static void the_first_definition_counts(void **state)
{
	const struct rec_line line = { 1, 3, 0, 0 };

	(void)state;
	ADD(STRING, string, { 1, "first", 5 });
	ADD(STRING, string, { 1, "second", 6 });
	assert_string_equal(definition_store_string(t, 1, NULL), "first");
	ADD(THREAD, thread, { .id = 1, .tid = 5 });
	ADD(THREAD, thread, { .id = 1, .tid = 6 });
	assert_int_equal(definition_store_find_thread(t, 1)->tid, 5);
	assert_int_equal(tables_count(t, REC_THREAD), 1);

	/* A name that was found later is better than none. */
	ADD(FUNC, func, { .id = 1, .name = 1 });
	ADD(FRAME, frame, { .id = 1 });
	ADD(SYMBOL, symbol, { .frame = 1, .status = SYMBOL_NONE });
	ADD(SYMBOL, symbol, { .frame = 1, .lines = &line, .nr_lines = 1 });
	ADD(SYMBOL, symbol, { .frame = 1, .status = SYMBOL_GONE });
	assert_string_equal(view(1, 0).name, "first");
	assert_int_equal(tables_count(t, REC_SYMBOL), 1);
}

/* A runtime's name stands for the kernel's, by which the thread is known again. */
static void threads_have_the_names_of_runtimes(void **state)
{
	const struct rec_thread *th;
	struct record has;

	(void)state;
	ADD(STRING, string, { 1, "python3", 7 });
	ADD(STRING, string, { 2, "Thread-1", 8 });
	ADD(STRING, string, { 3, "logger", 6 });
	ADD(THREAD, thread, { .id = 1, .tid = 7, .comm = 1, .kernel_comm = 99 });	/* left over from another record */
	th = definition_store_find_thread(t, 1);
	assert_int_equal(th->comm, 1);
	assert_int_equal(rec_thread_kernel_comm(th), 1);
	ADD(THREADNAME, threadname, { 1, 2 });
	ADD(THREADNAME, threadname, { 1, 3 });
	ADD(THREADNAME, threadname, { 1, 0 });
	ADD(THREADNAME, threadname, { 2, 3 });		/* of none */
	th = definition_store_find_thread(t, 1);
	assert_int_equal(th->comm, 3);
	assert_int_equal(rec_thread_kernel_comm(th), 1);
	assert_true(definition_load(t, REC_THREAD, 1, &has));
	assert_int_equal(has.thread.comm, 1);
	assert_int_equal(has.thread.kernel_comm, 0);
	assert_null(definition_store_find_thread(t, 2));
}

static void lines_in_other_files(void **state)
{
	const struct rec_line lines[] = { { 1, 0, 0, 0 }, { 1, 7, 0, 0 } };
	struct frame_view v;
	char text[FRAME_LINE_MAX];

	(void)state;
	ADD(STRING, string, { 1, "f", 1 });
	ADD(STRING, string, { 2, "/src/f.c", 8 });
	ADD(STRING, string, { 3, "/src/f.inc", 10 });
	ADD(FUNC, func, { .id = 1, .name = 1, .file = 2 });
	ADD(FRAME, frame, { .id = 1 });
	ADD(PLACE, place, { 1, 0, 3, 9, 0 });	/* its SYMBOL was lost */
	ADD(SYMBOL, symbol, { .frame = 1, .lines = lines, .nr_lines = 2 });
	assert_int_equal(view(1, 0).line, 0);
	ADD(PLACE, place, { 1, 0, 3, 12, 0 });
	ADD(PLACE, place, { 1, 0, 3, 13, 0 });
	ADD(PLACE, place, { 1, 1, 3, 14, 0 });
	ADD(PLACE, place, { 1, 2, 3, 15, 0 });
	v = view(1, 0);
	assert_int_equal(v.line, 12);
	assert_int_equal(v.file, 2);
	assert_int_equal(definition_store_line_text(t, &v, text), 9);
	assert_string_equal(text, ":f.inc:12");
	v = view(1, 1);
	definition_store_line_text(t, &v, text);
	assert_string_equal(text, ":7");
}

static void impossible_ids_are_refused(void **state)
{
	(void)state;
	ADD(STRING, string, { 0, "x", 1 });
	ADD(THREAD, thread, { .id = UINT32_MAX });
	ADD(FRAME, frame, { .id = UINT32_MAX - 1 });
	ADD(NODE, node, { 5, 5, 1 });
	ADD(NODE, node, { 5, 6, 1 });
	ADD(SYMBOL, symbol, { .frame = 0 });
	assert_int_equal(definition_store_refused(t), 6);
	assert_null(definition_store_find_node(t, 5));

	/* Gaps are paid from one budget, whatever is defined. */
	for (uint32_t i = 1; i <= 64; i++)
		ADD(FRAME, frame, { .id = i << 20 });
	assert_true(tables_count(t, REC_FRAME) <= 4);
	assert_true(definition_store_refused(t) >= 66);
}

static void strings_are_bytes(void **state)
{
	char huge[200000];
	size_t len;

	(void)state;
	memset(huge, 'h', sizeof(huge));
	ADD(STRING, string, { 1, "a\0b", 3 });
	ADD(STRING, string, { 2, huge, sizeof(huge) });
	ADD(STRING, string, { 3, "", 0 });
	ADD(STRING, string, { 4, "after", 5 });
	assert_memory_equal(definition_store_string(t, 1, &len), "a\0b", 4);
	assert_int_equal(len, 3);
	assert_int_equal(strlen(definition_store_string(t, 2, &len)), sizeof(huge));
	assert_string_equal(definition_store_string(t, 3, &len), "");
	assert_int_equal(len, 0);
	assert_string_equal(definition_store_string(t, 4, NULL), "after");

	/* A path longer than any name: it is cut, and the address stays. */
	ADD(BINARY, binary, { .id = 1, .path = 2, .build_id_len = 255 });
	assert_int_equal(definition_store_find_binary(t, 1)->build_id_len, 64);
	ADD(FRAME, frame, { .id = 1, .binary = 1, .addr = 0x1234 });
	assert_true(view(1, 0).len < FRAME_TEXT_MAX);
	assert_non_null(strstr(view(1, 0).name, "h+0x1234]"));
}

/* main in C - an interpreter's function - its loop - a function in C, as nodes 1 to 4. */
static void add_interpreted(void)
{
	ADD(FRAME, frame, { .id = 1, .kind = FRAME_USER, .addr = 0x10 });
	ADD(FRAME, frame, { .id = 2, .kind = FRAME_JIT, .flags = FRAME_RUNTIME, .addr = 0x20 });
	ADD(FRAME, frame, { .id = 3, .kind = FRAME_USER, .addr = 0x30 });
	ADD(FRAME, frame, { .id = 4, .kind = FRAME_USER, .addr = 0x40 });
	for (uint32_t i = 1; i <= 4; i++)
		ADD(NODE, node, { .id = i, .parent = i - 1, .frame = i });
}

/* All code of a runtime that is gone has one name, wherever it was. */
static void code_that_is_gone(void **state)
{
	(void)state;
	ADD(STRING, string, { .id = 1, .len = 12, .bytes = "[php 8.2.36]" });
	ADD(BINARY, binary, { .id = 1, .kind = BINARY_ANON, .path = 1 });
	for (uint32_t i = 1; i <= 2; i++) {
		ADD(FRAME, frame, { .id = i, .kind = FRAME_JIT, .flags = FRAME_RUNTIME, .binary = 1, .addr = i << 20 });
		assert_int_equal(view(i, 0).len, 12);
		assert_memory_equal(view(i, 0).name, "[php 8.2.36]", 12);
		ADD(SYMBOL, symbol, { .frame = i, .status = SYMBOL_GONE });
		assert_int_equal(view(i, 0).len, 18);
		assert_memory_equal(view(i, 0).name, "[php 8.2.36: gone]", 18);
		assert_false(view(i, 0).named || view(i, 0).has_offset);
	}
	/* Other code that was made at run time keeps its address. */
	ADD(FRAME, frame, { .id = 3, .kind = FRAME_JIT, .binary = 1, .addr = 0x20 });
	assert_memory_equal(view(3, 0).name, "[php 8.2.36+0x20]", 17);
}

/* The frames from the innermost on, as digits of a number. */
static unsigned frames_of(uint32_t node)
{
	const struct table_node *n;
	unsigned digits = 0;

	for (; (n = definition_store_find_node(t, node)); node = n->parent)
		digits = digits * 10 + n->frame;
	return digits;
}

static void loops_are_left_out(void **state)
{
	(void)state;
	definition_store_fold(t, FOLD_LOOPS);
	add_interpreted();
	assert_int_equal(frames_of(4), 421);	/* what the loop calls stays */
	assert_int_equal(frames_of(3), 21);
	assert_int_equal(definition_store_node_row(t, 3)->frame, 3);
}

/* Code that leads to the loop goes with it, and stays where the loops are shown. */
static void trampolines_are_left_out(void **state)
{
	(void)state;
	for (int shown = 0; shown < 2; shown++) {
		definition_store_free(t);
		t = definition_store_new();
		definition_store_fold(t, shown ? FOLD_NOTHING : FOLD_LOOPS);
		add_interpreted();
		ADD(FRAME, frame, { .id = 5, .kind = FRAME_JIT, .flags = FRAME_TRAMPOLINE | FRAME_RETURN_ADDRESS });
		for (uint32_t i = 0; i < 4; i++)
			ADD(NODE, node, { .id = 5 + i, .parent = 4 + i, .frame = (const uint32_t[]){ 5, 2, 3, 4 }[i] });
		assert_int_equal(frames_of(8), shown ? 43254321 : 42421);
		assert_int_equal(frames_of(5), shown ? 54321 : 421);
	}
}

/* main in C - the JVM's call stub - a compiled method - a native method, in C - the stub again - an interpreted one. */
static void java_has_no_loops(void **state)
{
	(void)state;
	definition_store_fold(t, FOLD_LOOPS);
	ADD(STRING, string, { .id = 1, .len = 9, .bytes = "[java 17]" });
	ADD(BINARY, binary, { .id = 1, .kind = BINARY_ANON, .path = 1 });
	ADD(FRAME, frame, { .id = 1, .kind = FRAME_USER, .addr = 0x10 });
	ADD(FRAME, frame, { .id = 2, .kind = FRAME_JIT, .binary = 1, .flags = FRAME_RUNTIME | FRAME_COMPILED, .addr = 0x20 });
	ADD(FRAME, frame, { .id = 3, .kind = FRAME_JIT, .binary = 1, .flags = FRAME_RUNTIME | FRAME_COMPILED, .addr = 0x30 });
	ADD(FRAME, frame, { .id = 4, .kind = FRAME_USER, .addr = 0x40 });
	ADD(FRAME, frame, { .id = 5, .kind = FRAME_JIT, .binary = 1, .flags = FRAME_RUNTIME, .addr = 0x50 });
	for (uint32_t i = 1; i <= 6; i++)
		ADD(NODE, node, { .id = i, .parent = i - 1, .frame = (const uint32_t[]){ 0, 1, 2, 3, 4, 2, 5 }[i] });
	assert_int_equal(frames_of(6), 5431);
	assert_int_equal(frames_of(4), 431);
	/* Without the stub, as where a stack was not read to its end, nothing is taken for it. */
	ADD(NODE, node, { .id = 7, .parent = 0, .frame = 3 });
	ADD(NODE, node, { .id = 8, .parent = 1, .frame = 5 });
	assert_int_equal(frames_of(7), 3);
	assert_int_equal(frames_of(8), 51);
}

static void frames_of_runtimes_tell_their_kind(void **state)
{
	(void)state;
	ADD(FRAME, frame, { .id = 1, .kind = FRAME_JIT, .flags = FRAME_RUNTIME });
	ADD(FRAME, frame, { .id = 2, .kind = FRAME_JIT, .flags = FRAME_RUNTIME | FRAME_COMPILED });
	ADD(FRAME, frame, { .id = 3, .kind = FRAME_JIT, .flags = FRAME_RUNTIME | FRAME_INLINED });
	ADD(FRAME, frame, { .id = 4, .kind = FRAME_JIT });
	assert_int_equal(view(1, 0).tier, TIER_INTERPRETED);
	assert_int_equal(view(2, 0).tier, TIER_COMPILED);
	assert_false(view(2, 0).inlined);
	assert_int_equal(view(3, 0).tier, TIER_COMPILED);
	assert_true(view(3, 0).inlined);
	assert_int_equal(view(4, 0).tier, TIER_NONE);
	/* What its function says counts more. */
	ADD(STRING, string, { .id = 1, .len = 1, .bytes = "f" });
	ADD(FUNC, func, { .id = 1, .name = 1, .flags = TIER_OPTIMIZED << FUNC_TIER_SHIFT });
	ADD(SYMBOL, symbol, { .frame = 2, .lines = &(struct rec_line){ .func = 1 }, .nr_lines = 1 });
	assert_int_equal(view(2, 0).tier, TIER_OPTIMIZED);
	assert_string_equal(frame_kind_name(FRAME_JIT, TIER_INTERPRETED), "interpreted");
	assert_string_equal(frame_kind_name(FRAME_JIT, TIER_OPTIMIZED), "jit");
	assert_string_equal(frame_kind_name(FRAME_SYNTHETIC, TIER_INTERPRETED), "interpreted");
	assert_string_equal(frame_kind_name(FRAME_SYNTHETIC, TIER_NONE), "synthetic");
	assert_string_equal(frame_kind_name(FRAME_KERNEL, TIER_INTERPRETED), "kernel");
}

static void loops_stay_if_nothing_is_said(void **state)
{
	(void)state;
	add_interpreted();
	assert_int_equal(frames_of(4), 4321);
}

static void interpreted_frames_are_left_out(void **state)
{
	(void)state;
	definition_store_fold(t, FOLD_RUNTIMES);
	add_interpreted();
	ADD(FRAME, frame, { .id = 5, .kind = FRAME_SYNTHETIC, .addr = FRAME_MISSING | 1 });
	ADD(FRAME, frame, { .id = 6, .kind = FRAME_SYNTHETIC, .addr = 236 });
	ADD(NODE, node, { .id = 5, .parent = 2, .frame = 2 });
	ADD(NODE, node, { .id = 6, .parent = 5, .frame = 5 });
	ADD(NODE, node, { .id = 7, .parent = 6, .frame = 6 });
	assert_int_equal(frames_of(4), 431);
	assert_int_equal(frames_of(7), 61);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_the_fixture), TEST(views_are_innermost_first),
		TEST(frames_without_a_name_say_where_they_are), TEST(functions_without_a_name_are_one),
		TEST(what_is_not_there_is_missing),
		TEST(symbols_of_missing_things), TEST(the_first_definition_counts),
		TEST(threads_have_the_names_of_runtimes),
		TEST(lines_in_other_files), TEST(impossible_ids_are_refused), TEST(strings_are_bytes),
		TEST(loops_are_left_out), TEST(loops_stay_if_nothing_is_said),
		TEST(trampolines_are_left_out),
		TEST(java_has_no_loops), TEST(frames_of_runtimes_tell_their_kind),
		TEST(code_that_is_gone),
		TEST(interpreted_frames_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
