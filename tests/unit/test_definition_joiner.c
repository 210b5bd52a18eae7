/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What makes two definitions the same, and what a segment may have once. That all readers agree: tests/cli/late_facts.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_joiner.h"
#include "src/model/definition_store.h"
#include "src/model/same_definition.h"

struct world {
	struct definition_joiner j;
	struct definition_store *t;
	uint32_t last[RECORD_TAGS];
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

	definition_joiner_release(&w->j);
	definition_store_free(w->t);
	test_free(w);
	return 0;
}

/* The id of a definition in the recording. */
static uint32_t define(struct world *w, struct record rec)
{
	uint32_t id = definition_joiner_find(&w->j, w->t, &rec);

	if (id != IX_NONE) {
		*record_id(&rec) = id;
		assert_int_equal(definition_joiner_meet(&w->j, w->t, &rec), 0);
		return id;
	}
	id = *record_id(&rec) = ++w->last[rec.tag];
	assert_int_equal(definition_store_record(w->t, &rec), 0);
	assert_int_equal(definition_joiner_add(&w->j, &rec, id), 0);
	return id;
}

#define DEFINE(w, NAME, field, ...) define((w), (struct record){ .tag = REC_##NAME, .field = { __VA_ARGS__ } })
#define PROCESS_40 .tgid = 40, .start_boottime_ns = 1000, .comm = 1

static void what_becomes_known_late_is_learned(void **state)
{
	struct world *w = *state;
	const struct rec_process *p;

	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40, .uid = 0), 1);
	definition_joiner_begin(&w->j);
	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40, .exe = 7, .cmdline = 3, .cgroup = 4, .uid = 1000), 1);
	p = definition_store_find_process(w->t, 1);
	assert_int_equal(p->exe, 7);
	assert_int_equal(p->cmdline, 3);
	assert_int_equal(p->cgroup, 4);
	definition_joiner_begin(&w->j);
	/* What is known stays. */
	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40, .exe = 7, .cmdline = 5), 1);
	assert_int_equal(p->cmdline, 3);
}

static void an_exec_makes_another_process(void **state)
{
	struct world *w = *state;

	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40, .exe = 7), 1);
	definition_joiner_begin(&w->j);
	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40, .exe = 8), 2);
	assert_int_equal(DEFINE(w, PROCESS, process, .tgid = 40, .start_boottime_ns = 1000, .comm = 2, .exe = 7), 3);
	assert_int_equal(DEFINE(w, PROCESS, process, .tgid = 40, .start_boottime_ns = 1001, .comm = 1, .exe = 7), 4);
}

/* Two that look equal in one segment are two; in the next one each is found again. */
static void a_segment_has_a_process_once(void **state)
{
	struct world *w = *state;

	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40), 1);
	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40), 2);
	definition_joiner_begin(&w->j);
	assert_in_range(DEFINE(w, PROCESS, process, PROCESS_40), 1, 2);
	assert_in_range(DEFINE(w, PROCESS, process, PROCESS_40), 1, 2);
	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40), 3);
}

static void functions_on_two_lines_are_two(void **state)
{
	struct world *w = *state;

	assert_int_equal(DEFINE(w, FUNC, func, .name = 1, .sysname = 1, .file = 2, .start_line = 10), 1);
	assert_int_equal(DEFINE(w, FUNC, func, .name = 1, .sysname = 1, .file = 2, .start_line = 20), 2);
	assert_int_equal(DEFINE(w, FUNC, func, .name = 1, .sysname = 1, .file = 2, .start_line = 10, .lang = 1), 3);
	assert_int_equal(DEFINE(w, FUNC, func, .name = 1, .sysname = 1, .file = 2, .start_line = 10), 1);
}

static void memory_without_a_file_is_nobodys(void **state)
{
	struct world *w = *state;

	assert_int_equal(DEFINE(w, BINARY, binary, .kind = BINARY_ANON, .path = 1), 1);
	assert_int_equal(DEFINE(w, BINARY, binary, .kind = BINARY_ANON, .path = 1), 2);
	assert_int_equal(DEFINE(w, BINARY, binary, .kind = BINARY_ANON, .path = 1, .ino = 5), 3);
	assert_int_equal(DEFINE(w, BINARY, binary, .kind = BINARY_ANON, .path = 1, .ino = 5), 3);
}

/* A reader that comes late takes all that is there; the segment that it begins with has none of it. */
static void all_of_a_store_is_found(void **state)
{
	struct world *w = *state;
	struct record rec = { .tag = REC_STRING, .string = { 1, "a", 1 } };

	assert_int_equal(definition_store_record(w->t, &rec), 0);
	rec = (struct record){ .tag = REC_PROCESS, .process = { .id = 1, PROCESS_40 } };
	assert_int_equal(definition_store_record(w->t, &rec), 0);
	rec = (struct record){ .tag = REC_FRAME, .frame = { .id = 1, .addr = 9 } };
	assert_int_equal(definition_store_record(w->t, &rec), 0);
	rec = (struct record){ .tag = REC_NODE, .node = { 1, 0, 1 } };
	assert_int_equal(definition_store_record(w->t, &rec), 0);
	assert_int_equal(definition_joiner_add_all(&w->j, w->t), 0);
	assert_int_equal(DEFINE(w, STRING, string, 0, "a", 1), 1);
	assert_int_equal(DEFINE(w, PROCESS, process, PROCESS_40), 1);
	assert_int_equal(DEFINE(w, FRAME, frame, .addr = 9), 1);
	assert_int_equal(DEFINE(w, NODE, node, .frame = 1), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_becomes_known_late_is_learned), TEST(an_exec_makes_another_process),
		TEST(a_segment_has_a_process_once), TEST(functions_on_two_lines_are_two),
		TEST(memory_without_a_file_is_nobodys), TEST(all_of_a_store_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
