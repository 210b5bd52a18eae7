/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The views on a terminal of 80 columns: what people need is there, and what is cut is cut at the right end. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/tui/tui_draw.h"
#include "src/tui/tui_keys.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_view.h"
#include "tests/unit/fixture_report.h"

#define FORTY "a_function_whose_name_has_forty_columns_"
_Static_assert(sizeof(FORTY) == 41, "FORTY");

static const struct tui_options plain = { .no_colour = true };
static const struct tui_source source_of_all = { .name = "fixture.pbz" };

/* The server waits for its child, and not for the lock that the worker has. */
static int wait_for_child(void *ctx, const struct record *rec)
{
	struct fixture_rename *r = ctx;
	struct record copy = *rec;

	if (rec->tag == REC_SAMPLE && rec->sample.owner)
		copy.sample.wait_kind = WAIT_CHILD;
	return fixture_rename(r, &copy);
}

static void open_tui(struct tui *t, struct tui_source *source, const struct fixture_name *names, bool has_child)
{
	char path[] = "/tmp/probee-narrow.XXXXXX";
	struct fixture_rename r = { .names = names };

	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, NULL, &r.writer), 0);
	assert_int_equal(trace_fixture_emit(has_child ? wait_for_child : fixture_rename, &r), 0);
	assert_int_equal(trace_writer_close(r.writer), 0);
	*source = source_of_all;
	source->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(source->fd >= 0);
	unlink(path);
	assert_int_equal(tui_state_open(t, source, &plain, &top_view), 0);
	assert_int_equal(canvas_resize(&t->canvas, 24, 80), 0);
	for (int i = 0; i < 10 && !t->profile; i++)
		assert_true(tui_state_update(t) >= 0);
	assert_non_null(t->profile);
}

static void check_seen(struct tui *t, bool is_seen, const char *text, int line)
{
	char *screen = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&screen, &len);

	assert_non_null(out);
	tui_draw(t);
	canvas_print(&t->canvas, out);
	assert_int_equal(fclose(out), 0);
	if ((strstr(screen, text) != NULL) != is_seen)
		fail_msg("line %d: \"%s\" is %s in:\n%s", line, text, is_seen ? "not" : "wrongly", screen);
	free(screen);
}
#define shows(t, text) check_seen(t, true, text, __LINE__)
#define hides(t, text) check_seen(t, false, text, __LINE__)

/* A name of 40 columns is whole, by self and by total; its file has what is left, and ends as it ends. */
static void test_functions(void **state)
{
	const struct fixture_name names[FIX_STRINGS] = {
		[FIX_S_HOT] = { FORTY, 40 }, [FIX_S_MAIN] = { FORTY "and_more", 48 },
		[FIX_S_SERVER_PATH] = { "/opt/lib/a-library-of-a-long-name.so.6", 38 },
	};
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, names, false);
	for (const char *k = "212"; *k; k++) {
		tui_key(&t, *k);
		shows(&t, " " FORTY "  ...");
		shows(&t, "ame.so.6\n");
		hides(&t, FORTY "and_more");
	}
	assert_int_equal(canvas_resize(&t.canvas, 24, 240), 0);
	tui_key(&t, '1');
	shows(&t, FORTY "and_more  a-library-of-a-long-name.so.6");
	tui_state_close(&t);
}

/* Each process once, with what its busiest thread does; Enter shows it alone, Esc all again. */
static void test_processes(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL, false);
	t.view = &processes_view;
	shows(&t, "process                PID");
	shows(&t, "\nserver x2 ");
	shows(&t, "\nkworker/0:1              7 ");
	tui_key(&t, 'g');
	tui_key(&t, '\n');
	assert_ptr_equal(t.view, &top_view);
	assert_true(t.choice.tgid == 100 || t.choice.tgid == 7);
	t.view = &processes_view;
	shows(&t, "\nserver x2 ");			/* all are here still */
	shows(&t, "\nkworker/0:1 ");
	tui_key(&t, '\033');
	assert_int_equal(t.choice.tgid, 0);
	tui_state_close(&t);
}

/* What this process has is told, and of one that is not there that it is not; nobody answers when it is closed. */
static void test_memory(void **state)
{
	uint32_t pids[] = { (uint32_t)getpid(), 0x7fffffff }, many[MEMORY_ASKED + 1] = { 0 };
	uint64_t bytes[MEMORY_ASKED + 1];
	struct process_memory m = { 0 };

	(void)state;
	assert_false(process_memory_ask(&m, pids, 2, bytes));
	assert_int_equal(process_memory_open(&m, NULL), 0);
	assert_true(process_memory_ask(&m, pids, 2, bytes));
	assert_true(bytes[0] > 100000 && bytes[0] < 1ull << 40);
	assert_true(bytes[1] == UINT64_MAX);
	assert_false(process_memory_ask(&m, many, MEMORY_ASKED + 1, bytes));
	assert_true(process_memory_ask(&m, pids, 1, bytes));
	process_memory_close(&m);
	assert_false(process_memory_ask(&m, pids, 2, bytes));
}

/* No line of the help is longer than the screen. */
static void test_help(void **state)
{
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, NULL, false);
	tui_key(&t, '?');
	shows(&t, " lines 1 to 21 of ");
	assert_int_equal(canvas_resize(&t.canvas, 90, 200), 0);
	tui_draw(&t);
	for (int row = 2; row < 90 - 1; row++)
		for (int col = 80; col < 200; col++)
			if (t.canvas.cells[row * 200 + col].ch != ' ')
				fail_msg("line %d of the help is longer than 80 columns", row - 1);
	shows(&t, "all views show it; Esc: all time");
	shows(&t, " any key leaves the help");
	hides(&t, "arrows scroll");
	tui_state_close(&t);
}

/* Of a long line all parts are there; what it waits for begins with dots. */
static void test_waits(void **state)
{
	const struct fixture_name names[FIX_STRINGS] = {
		[FIX_S_SERVER] = { "a-name-of-fifte", 15 },
		[FIX_S_MAIN] = { FORTY, 40 }, [FIX_S_HANDLE] = { FORTY, 40 },
	};
	struct tui_source source;
	struct tui t;

	(void)state;
	open_tui(&t, &source, names, false);
	t.view = &waits_view;
	shows(&t, "* holds, - waits for it   no deadlocks\n");
	shows(&t, "* worker 101");
	shows(&t, "1 behind it");
	shows(&t, "  - a-name-of-fifte 100  SLEEP");
	hides(&t, "ring");
	hides(&t, "certain");
	tui_state_close(&t);
}

/* A shell that waits for its child is counted only; what is no shell has its line. */
static void test_shells(void **state)
{
	const struct fixture_name names[FIX_STRINGS] = {
		[FIX_S_SERVER] = { "bash", 4 }, [FIX_S_SERVER_PATH] = { "/usr/bin/bash", 13 },
	};
	struct tui_source source;
	struct tui t;

	(void)state;
	for (int is_shell = 0; is_shell < 2; is_shell++) {
		open_tui(&t, &source, is_shell ? names : NULL, true);
		t.view = &waits_view;
		if (is_shell)
			shows(&t, "not shown: 1 waiting shell\n");
		else
			hides(&t, "not shown");
		hides(&t, "- bash 100");
		tui_state_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_help), cmocka_unit_test(test_waits),
		cmocka_unit_test(test_shells), cmocka_unit_test(test_processes), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
