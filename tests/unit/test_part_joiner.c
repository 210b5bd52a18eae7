/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a recording become one. That whole reports are equal: tests/cli/parts.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "src/report/part_joiner.h"

#define START 1000ull

struct world {
	struct part_joiner j;
	struct definition_store *t;
	uint32_t segment;
};

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	w->t = definition_store_new();
	*state = w;
	return !w->t;
}

static int teardown(void **state)
{
	struct world *w = *state;

	part_joiner_release(&w->j);
	definition_store_free(w->t);
	test_free(w);
	return 0;
}

/* 1: it was new; 0: the recording has it. */
static int give(struct world *w, struct record rec)
{
	int rc;

	assert_int_equal(part_joiner_enter(&w->j, w->segment, &rec), 0);
	rc = part_joiner_record(&w->j, w->t, &rec);
	if (rc > 0)
		assert_int_equal(definition_store_record(w->t, &rec), 0);
	return rc;
}

#define GIVE(w, NAME, field, ...) \
	give((w), (struct record){ .tag = REC_##NAME, .field = { __VA_ARGS__ } })

static int string(struct world *w, uint32_t id, const char *text)
{
	return GIVE(w, STRING, string, id, text, strlen(text));
}

static void begin_part(struct world *w, uint32_t segment, const char *part)
{
	w->segment = segment;
	GIVE(w, META, meta, "recording.part", part, strlen(part));
}

/* An application with one thread, which calls f and g. */
static void first_part(struct world *w)
{
	GIVE(w, META, meta, "tool", "probee", 6);
	string(w, 1, "app");
	string(w, 2, "/bin/app");
	GIVE(w, BINARY, binary, .id = 1, .path = 2, .ino = 7);
	GIVE(w, PROCESS, process, .id = 1, .tgid = 40, .start_boottime_ns = START, .comm = 1, .exe = 1);
	GIVE(w, THREAD, thread, .id = 1, .process = 1, .tid = 40, .comm = 1, .start_boottime_ns = START);
	GIVE(w, FRAME, frame, .id = 1, .binary = 1, .addr = 0x10);
	GIVE(w, FRAME, frame, .id = 2, .binary = 1, .addr = 0x20);
	GIVE(w, NODE, node, 1, 0, 1);
	GIVE(w, NODE, node, 2, 1, 2);
}

static void test_ids(void **state)
{
	struct world *w = *state;
	struct rec_sample s = { .thread = 1, .ustack = 2, .kstack = 1 };

	first_part(w);
	assert_false(part_joiner_sample(&w->j, 0, &s));
	begin_part(w, 1, "2");
	assert_true(part_joiner_is_joined(&w->j, 1));
	assert_int_equal(part_joiner_recording(&w->j, 1), 0);
	/* In another order, with another frame between them. */
	assert_int_equal(string(w, 1, "/bin/app"), 0);
	assert_int_equal(string(w, 2, "other"), 1);
	assert_int_equal(string(w, 3, "app"), 0);
	assert_int_equal(GIVE(w, BINARY, binary, .id = 1, .path = 1, .ino = 8), 1);
	assert_int_equal(GIVE(w, BINARY, binary, .id = 2, .path = 1, .ino = 7), 0);
	assert_int_equal(GIVE(w, PROCESS, process, .id = 1, .tgid = 40, .start_boottime_ns = START,
			      .comm = 3, .exe = 2), 0);
	assert_int_equal(GIVE(w, THREAD, thread, .id = 1, .process = 1, .tid = 40, .comm = 2,
			      .start_boottime_ns = START), 1);	/* it was renamed */
	assert_int_equal(GIVE(w, FRAME, frame, .id = 1, .binary = 2, .addr = 0x20), 0);
	assert_int_equal(GIVE(w, FRAME, frame, .id = 2, .binary = 1, .addr = 0x20), 1);
	assert_int_equal(GIVE(w, FRAME, frame, .id = 3, .binary = 2, .addr = 0x10), 0);
	assert_int_equal(GIVE(w, NODE, node, 1, 0, 3), 0);
	assert_int_equal(GIVE(w, NODE, node, 2, 1, 2), 1);
	assert_int_equal(GIVE(w, NODE, node, 3, 1, 1), 0);
	assert_true(part_joiner_sample(&w->j, 1, &s));
	assert_int_equal(s.thread, 2);
	assert_int_equal(s.ustack, 3);
	assert_int_equal(s.kstack, 1);
	assert_int_equal(definition_store_find_node(w->t, 3)->frame, 3);
	assert_int_equal(definition_store_find_frame(w->t, 3)->binary, 2);
	assert_string_equal(definition_store_string(w->t, definition_store_find_thread(w->t, 2)->comm,
						    NULL), "other");
	assert_int_equal(tables_count(w->t, REC_PROCESS), 1);
	s.ustack = 4;			/* nothing has this id */
	part_joiner_sample(&w->j, 1, &s);
	assert_int_equal(s.ustack, 0);
}

/* Before and after an exec of its own program a process looks the same. */
static void test_two_lives(void **state)
{
	struct world *w = *state;

	first_part(w);
	begin_part(w, 1, "2");
	string(w, 1, "app");
	string(w, 2, "/bin/app");
	GIVE(w, BINARY, binary, .id = 1, .path = 2, .ino = 7);
	assert_int_equal(GIVE(w, PROCESS, process, .id = 1, .tgid = 40, .start_boottime_ns = START,
			      .comm = 1, .exe = 1), 0);
	assert_int_equal(GIVE(w, PROCESS, process, .id = 2, .tgid = 40, .start_boottime_ns = START,
			      .comm = 1, .exe = 1), 1);
	begin_part(w, 2, "3");
	string(w, 1, "app");
	string(w, 2, "/bin/app");
	GIVE(w, BINARY, binary, .id = 1, .path = 2, .ino = 7);
	assert_int_equal(GIVE(w, PROCESS, process, .id = 1, .tgid = 40, .start_boottime_ns = START,
			      .comm = 1, .exe = 1), 0);
	assert_int_equal(tables_count(w->t, REC_PROCESS), 2);
}

/* Code made at run time is never taken for that of another process. */
static void test_memory_of_processes(void **state)
{
	struct world *w = *state;

	first_part(w);
	assert_int_equal(GIVE(w, BINARY, binary, .id = 2, .kind = BINARY_ANON), 1);
	begin_part(w, 1, "2");
	assert_int_equal(GIVE(w, BINARY, binary, .id = 1, .kind = BINARY_ANON), 1);
	assert_int_equal(tables_count(w->t, REC_BINARY), 3);
	assert_int_equal(GIVE(w, BINARY, binary, .id = 2, .kind = BINARY_ANON, .ino = 5), 1);
	begin_part(w, 2, "3");
	assert_int_equal(GIVE(w, BINARY, binary, .id = 1, .kind = BINARY_ANON, .ino = 6), 1);
	assert_int_equal(GIVE(w, BINARY, binary, .id = 2, .kind = BINARY_ANON, .ino = 5), 0);
}

/* A name that one part has not got may come with another; the first one stays. */
static void test_names(void **state)
{
	static const struct rec_line in_f = { .func = 1, .line = 12 };
	struct world *w = *state;

	first_part(w);
	GIVE(w, SYMBOL, symbol, .frame = 1, .status = SYMBOL_LIMITED);
	begin_part(w, 1, "2");
	string(w, 1, "f");
	assert_int_equal(GIVE(w, FRAME, frame, .id = 1, .addr = 0x99), 1);
	string(w, 2, "/bin/app");
	GIVE(w, BINARY, binary, .id = 1, .path = 2, .ino = 7);
	GIVE(w, FRAME, frame, .id = 2, .binary = 1, .addr = 0x10);
	assert_int_equal(GIVE(w, FUNC, func, .id = 1, .name = 1), 1);
	assert_int_equal(GIVE(w, SYMBOL, symbol, .frame = 2, .lines = &in_f, .nr_lines = 1), 1);
	assert_int_equal(definition_store_find_symbol(w->t, 1)->nr_lines, 1);
	assert_false(definition_store_find_symbol(w->t, 3));
	assert_int_equal(definition_store_find_func(w->t, 1)->name, 3);
	/* Of a frame that is not there. */
	assert_int_equal(GIVE(w, SYMBOL, symbol, .frame = 9), 0);
}

static void test_which_recording(void **state)
{
	struct world *w = *state;
	static const struct { const char *part; uint32_t recording; } of[] = {
		{ "1", 0 }, { "2", 0 }, { "5", 0 },	/* two parts are missing */
		{ "2", 1 },				/* the end of another recording */
		{ "3", 1 }, { "3", 2 }, { "x", 3 }, { "0", 4 }, { "4294967296000", 5 },
	};

	for (uint32_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		begin_part(w, i, of[i].part);
		assert_int_equal(part_joiner_recording(&w->j, i), of[i].recording);
	}
	assert_int_equal(part_joiner_recording(&w->j, 9), UINT32_MAX);
	/* It must be the first record, because all others depend on it. */
	w->segment = 9;
	GIVE(w, META, meta, "tool", "probee", 6);
	GIVE(w, META, meta, "recording.part", "9", 1);
	assert_int_equal(part_joiner_recording(&w->j, 9), 6);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_ids),
		T(test_two_lives),
		T(test_memory_of_processes),
		T(test_names),
		T(test_which_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
