/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames without names are counted by binary and cause, and as often as they were sampled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "src/report/name_health.h"
#include "src/report/report_text.h"

struct world {
	struct definition_store *t;
	struct stack_tally tally;
	struct stack_health stacks;
	struct name_health names;
};

static const struct definition_store *tables_of(const void *ctx, uint32_t segment)
{
	const struct world *w = ctx;

	return segment ? NULL : w->t;
}

static void define(struct world *w, const struct record *rec)
{
	assert_int_equal(definition_store_record(w->t, rec), 0);
}

static void define_frame(struct world *w, uint32_t id, uint8_t kind, uint32_t binary)
{
	define(w, &(struct record){ .tag = REC_FRAME, .frame = { .id = id, .kind = kind, .binary = binary, .addr = 16 * id } });
}

static void say(struct world *w, uint32_t frame, uint8_t status, uint32_t func, uint32_t line)
{
	struct rec_line l = { func, line, 0, 0 };

	define(w, &(struct record){ .tag = REC_SYMBOL, .symbol = { frame, status, 0, &l, func != 0 } });
}

static void sample(struct world *w, uint32_t ustack, uint32_t kstack, uint8_t end, uint64_t nr)
{
	const struct rec_sample s = { .ustack = ustack, .kstack = kstack, .end = end };

	assert_int_equal(stack_tally_add_many(&w->tally, 0, w->t, &s, nr), 0);
}

/*
 * Frames 1 (a name) <- 2 (a name and a line) <- 3 (stripped), 3 <- 4 (generated), 1 <- 5 (of no file); of the kernel
 * 6 (a name) <- 7 (hidden). Frame 8 was never met, and nobody looked for its name.
 */
static void fill(struct world *w)
{
	static const struct rec_node nodes[] = { { 1, 0, 1 }, { 2, 1, 2 }, { 3, 2, 3 }, { 4, 3, 4 }, { 5, 1, 5 },
						 { 6, 0, 6 }, { 7, 6, 7 } };

	w->t = definition_store_new();
	define(w, &(struct record){ .tag = REC_STRING, .string = { 1, "/bin/app", 8 } });
	define(w, &(struct record){ .tag = REC_STRING, .string = { 2, "f", 1 } });
	define(w, &(struct record){ .tag = REC_BINARY, .binary = { .id = 1, .path = 1 } });
	define(w, &(struct record){ .tag = REC_BINARY, .binary = { .id = 2, .kind = BINARY_KERNEL } });
	define(w, &(struct record){ .tag = REC_FUNC, .func = { .id = 1, .name = 2 } });
	for (uint32_t id = 1; id <= 3; id++)
		define_frame(w, id, FRAME_USER, 1);
	define_frame(w, 4, FRAME_JIT, 0);
	define_frame(w, 5, FRAME_USER, 0);
	define_frame(w, 6, FRAME_KERNEL, 2);
	define_frame(w, 7, FRAME_KERNEL, 0);
	define_frame(w, 8, FRAME_USER, 1);
	say(w, 1, SYMBOL_OK_SYMTAB, 1, 0);
	say(w, 2, SYMBOL_OK, 1, 12);
	say(w, 3, SYMBOL_STRIPPED, 0, 0);
	say(w, 6, SYMBOL_OK_SYMTAB, 1, 0);
	say(w, 7, SYMBOL_NONE, 0, 0);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		define(w, &(struct record){ .tag = REC_NODE, .node = nodes[i] });
}

static void sum(struct world *w)
{
	assert_int_equal(stack_health_init(&w->stacks, &w->tally, tables_of, w), 0);
	assert_int_equal(name_health_init(&w->names, &w->tally, tables_of, w), 0);
}

static void release(struct world *w)
{
	name_health_release(&w->names);
	stack_health_release(&w->stacks);
	stack_tally_release(&w->tally);
	definition_store_free(w->t);
}

static void assert_count(const struct name_count *n, uint64_t frames, uint64_t times)
{
	assert_int_equal(n->frames, frames);
	assert_int_equal(n->times, times);
}

static void assert_row(const struct world *w, size_t i, const char *path, enum name_cause cause, uint64_t frames,
		       uint64_t times, uint64_t all)
{
	const struct name_row *row = &w->names.rows[i];

	assert_string_equal(name_health_path(&w->names, row, NULL), path);
	assert_int_equal(row->cause, cause);
	assert_count(&row->n, frames, times);
	assert_int_equal(row->all, all);
}

static void test_frames_count_as_often_as_sampled(void **state)
{
	struct world w = { 0 };

	(void)state;
	fill(&w);
	sample(&w, 3, 0, END_ROOT, 10);		/* 1 2 3 */
	sample(&w, 4, 7, END_ROOT, 5);		/* 1 2 3 4, and 6 7 */
	sample(&w, 5, 0, END_NO_FDE, 2);	/* 1 5 */
	sample(&w, 0, 6, END_KTHREAD, 7);	/* 6: a thread without a user stack */
	sum(&w);
	assert_count(&w.names.all, 8, 15 * 3 + 5 + 5 * 2 + 2 * 2 + 7);
	assert_count(&w.names.named, 3, 17 + 15 + 12);
	assert_count(&w.names.with_lines, 1, 15);
	assert_count(&w.names.in_file, 2, 15);
	assert_count(&w.names.unknown, 3, 5 + 2 + 5);
	assert_count(&w.names.causes[NAME_STRIPPED], 1, 15);
	assert_count(&w.names.causes[NAME_NOT_ASKED], 1, 0);
	assert_int_equal(w.names.nr_rows, 5);
	assert_row(&w, 0, "/bin/app", NAME_STRIPPED, 1, 15, 4);
	assert_row(&w, 1, "(generated code)", NAME_GENERATED, 1, 5, 1);
	assert_row(&w, 2, "(no binary)", NAME_HIDDEN, 1, 5, 2);
	assert_row(&w, 3, "(no binary)", NAME_NO_FILE, 1, 2, 2);
	assert_row(&w, 4, "/bin/app", NAME_NOT_ASKED, 1, 0, 4);
	release(&w);
}

/* A file that is there is never said to be gone: the reason is that of the recording. */
static void test_reasons(void **state)
{
	static const struct { uint8_t status; const char *text; } cases[] = {
		{ SYMBOL_GONE, "the file was not there any more" },
		{ SYMBOL_UNANSWERED, "not read in time: the helper process that reads files ended, or had too few "
				     "descriptors" },
		{ SYMBOL_ENDED, "the process ended before the file was read" },
		{ SYMBOL_LIMITED, "given up, because it took too long" },
		{ SYMBOL_UNREADABLE, "the file could not be read" },
		{ 99, "no symbol of the file is there" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w = { 0 };

		fill(&w);
		say(&w, 8, cases[i].status, 0, 0);
		define(&w, &(struct record){ .tag = REC_NODE, .node = { 8, 0, 8 } });
		sample(&w, 8, 0, END_ROOT, 1000);
		sum(&w);
		assert_string_equal(name_cause_text(w.names.rows[0].cause), cases[i].text);
		release(&w);
	}
}

/* The line in a report comes when one frame in ten has no name. */
static void test_text(void **state)
{
	struct world w = { 0 }, few = { 0 };
	char text[512];

	(void)state;
	fill(&w);
	sample(&w, 3, 0, END_ROOT, 10);
	sum(&w);
	report_names_text(&w.names, text, sizeof(text));
	assert_string_equal(text, "33.3 % of frames, as often as they were sampled, have no name, most of them in "
			    "/bin/app: the file has no symbol table. Try: install its debug package (-dbgsym, "
			    "-debuginfo), then probee symbolize --binary-dir /");
	release(&w);
	fill(&few);
	sample(&few, 2, 0, END_ROOT, 20);
	sample(&few, 3, 0, END_ROOT, 4);
	sum(&few);
	report_names_text(&few.names, text, sizeof(text));
	assert_string_equal(text, "");
	release(&few);
}

static void test_nothing(void **state)
{
	struct world w = { .t = definition_store_new() };
	char text[512];

	(void)state;
	sum(&w);
	assert_int_equal(w.names.nr_rows, 0);
	report_names_text(&w.names, text, sizeof(text));
	assert_string_equal(text, "");
	release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_count_as_often_as_sampled),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
