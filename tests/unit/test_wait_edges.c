/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/render/columns.h"
#include "formats/render/waits/wait_table.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_function.h"

#define NOW 1000000000000
#define SEC 1000000000

enum { LIBC = 1, PROGRAM, BASH };

static struct {
	struct definition_store *t;
	uint32_t string, frame, node, thread;
	struct wait_graph g;
} w;

#define ADD(TAG, field, ...) \
	assert_int_equal(definition_store_record(w.t, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ }), 0)

static uint32_t string(const char *s, size_t len)
{
	ADD(STRING, string, { ++w.string, s, len });
	return w.string;
}

static void binary(uint32_t id, const char *path)
{
	ADD(BINARY, binary, { .id = id, .path = string(path, strlen(path)) });
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.t = definition_store_new();
	w.g.tables = w.t;
	binary(LIBC, "/lib/x86_64-linux-gnu/libc.so.6");
	binary(PROGRAM, "/opt/server");
	binary(BASH, "/usr/bin/bash");
	ADD(PROCESS, process, { .id = 1, .tgid = 1, .comm = string("server", 6), .exe = PROGRAM });
	ADD(PROCESS, process, { .id = 2, .tgid = 2, .comm = string("build.sh", 8), .exe = BASH });
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	wait_graph_release(&w.g);
	definition_store_free(w.t);
	return 0;
}

static void frame(const char *name, size_t len, uint32_t file)
{
	struct rec_line line = { .func = ++w.frame };

	ADD(FRAME, frame, { .id = w.frame, .kind = file ? FRAME_USER : FRAME_JIT, .binary = file });
	if (len && *name != '?') {
		ADD(FUNC, func, { .id = w.frame, .name = string(name, len) });
		ADD(SYMBOL, symbol, { .frame = w.frame, .lines = &line, .nr_lines = 1 });
	}
}

/* Innermost first: "libc:read|main"; "?" is code of the program without a name, "" such code that was made at run time. */
static uint32_t stack(const char *names)
{
	const char *parts[32];
	uint32_t node = 0;
	size_t nr = 0;

	for (const char *p = names;; p += strcspn(p, "|") + 1) {
		parts[nr++] = p;
		if (!p[strcspn(p, "|")])
			break;
	}
	while (nr-- > 0) {
		bool in_libc = !strncmp(parts[nr], "libc:", 5);
		const char *s = parts[nr] + (in_libc ? 5 : 0);
		size_t len = strcspn(s, "|");

		frame(s, len, in_libc ? LIBC : len ? PROGRAM : 0);
		ADD(NODE, node, { ++w.node, node, w.frame });
		node = w.node;
	}
	return node;
}

static void function_is(const char *names, const char *function, const char *lock)
{
	struct wait_function f;

	wait_function_of(w.t, stack(names), &f);
	assert_string_equal(f.name, function);
	assert_int_equal(f.len, strlen(function));
	assert_string_equal(f.lock ? f.lock->what : "", lock);
}

static void finds_the_programs_own_function(void **state)
{
	(void)state;
	function_is("libc:__lll_lock_wait|libc:pthread_mutex_lock|take_order|main|libc:_start", "take_order", "mutex");
	function_is("__futex_abstimed_wait_common|pthread_cond_wait|uv_cond_wait|worker|start_thread", "worker", "condition");
	function_is("libc:futex_wait|std::mutex::lock()|std::lock_guard<std::mutex>::lock_guard(std::mutex&)|shop::pay(int)|main",
		    "shop::pay(int)", "");
	function_is("libc:clock_nanosleep|libc:sleep|nap", "nap", "");
	function_is("readers_lead|main", "readers_lead", "");	/* not read() */
	function_is("read_all|main", "read_all", "");
	function_is("", "", "");
	function_is("libc:epoll_wait|WaitLatch|ProcSleep|?|XactLockTableWait|main", "XactLockTableWait", "PostgreSQL lock");
	function_is("libc:pause|?|?|libc:_start", "[server+0x0]", "");
	function_is("libc:pause|?|?|?|?|?|?|?|?|?|far_away|main", "[server+0x0]", "");
	function_is("libc:pthread_mutex_lock|?|libc:start_thread|libc:clone3", "[server+0x0]", "mutex");
	function_is("libc:pause|libc:start_thread|libc:clone3", "", "");
}

static void knows_the_locks_of_runtimes(void **state)
{
	static const char java[] = "libc:pthread_cond_wait|os::PlatformEvent::park()|ObjectMonitor::EnterI(JavaThread*)|"
				   "ObjectMonitor::enter(JavaThread*)|ObjectSynchronizer::enter(Handle)|"
				   "InterpreterRuntime::monitorenter(JavaThread*, BasicObjectLock*)|";
	char named[512], unnamed[512];

	(void)state;
	snprintf(named, sizeof(named), "%sBank.transfer(int)|main", java);
	snprintf(unnamed, sizeof(unnamed), "%s||JavaCalls::call_helper()|start_thread", java);
	function_is(named, "Bank.transfer(int)", "Java monitor");
	function_is(unnamed, "ObjectMonitor::enter(JavaThread*)", "Java monitor");
	function_is("libc:pthread_cond_wait|Parker::park(bool, long)|Unsafe_Park|", "Unsafe_Park", "Java lock or queue");
	function_is("runtime.futex.abi0|runtime.futexsleep|runtime.notesleep|runtime.stopm|runtime.schedule|runtime.mcall",
		    "runtime.stopm", "work for goroutines");
	function_is("runtime.futex|runtime.semacquire1|sync.(*Mutex).lockSlow|sync.(*Mutex).Lock|main.pay", "main.pay", "Go mutex");
	function_is("libc:pthread_cond_timedwait|take_gil|_PyEval_EvalFrameDefault|_PyEval_Vector|thread_run|start_thread",
		    "take_gil", "Python's GIL");
	function_is("libc:__new_sem_wait_slow64.constprop.0|PGSemaphoreLock|LWLockAcquire|heap_insert|ExecModifyTable", "heap_insert",
		    "PostgreSQL LWLock");
	function_is("libc:epoll_wait|WaitEventSetWait|WaitLatch|ProcSleep|WaitOnLock|LockAcquireExtended|LockRelationOid",
		    "LockRelationOid", "PostgreSQL lock");
	function_is("libc:futex_wait|libc:pthread_rwlock_wrlock|put|main", "put", "read-write lock");
	function_is("std::sys::sync::mutex::futex::Mutex::lock_contended|shop::pay|main", "shop::pay", "Rust mutex");
}

/* ---- edges ---- */

struct waiter {
	uint32_t tid, process, owner;
	unsigned seconds, kind;
	const char *stack;
	uint64_t futex;
};

static void row(const struct waiter *r)
{
	struct wait_row *row = array_push(&w.g.rows, &w.g.nr, &w.g.cap);

	ADD(THREAD, thread, { .id = ++w.thread, .process = r->process, .tid = r->tid, .comm = 1 });
	*row = (struct wait_row){ .tid = r->tid, .tgid = r->process, .passes = true };
	row->rec = (struct rec_sample){
		.thread = w.thread, .cpu = UINT32_MAX, .state = TASK_SLEEPING, .time_ns = NOW,
		.ran_ns = NOW - r->seconds * (uint64_t)SEC, .owner = r->owner, .wait_kind = (uint8_t)r->kind,
		.ustack = r->stack ? stack(r->stack) : 0, .wait = r->futex, .syscall = 203,
	};
}

/* The edges in short: "r10 l21x2 ": section, tid, number. */
static const char *edges(bool all)
{
	static const char letters[] = "rlomu";
	static char text[512];
	struct wait_edges e;
	char *at = text;

	*text = 0;
	assert_int_equal(wait_graph_link(&w.g), 0);
	assert_int_equal(wait_edges_make(&w.g, all, &e), 0);
	for (size_t i = 0; i < e.nr; i++) {
		at += sprintf(at, "%c%u", letters[e.edges[i].section], w.g.rows[e.edges[i].row].tid);
		at += e.edges[i].nr > 1 ? sprintf(at, "x%u ", e.edges[i].nr) : sprintf(at, " ");
	}
	if (e.launchers)
		sprintf(at, "-%u", e.launchers);
	wait_edges_release(&e);
	return text;
}

#define ROWS(...)                                                                  \
	do {                                                                       \
		static const struct waiter rows[] = { __VA_ARGS__ };               \
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)        \
			row(&rows[i]);                                             \
	} while (0)

#define LOCK_A "libc:pthread_mutex_lock|a"
#define LOCK_B "libc:pthread_mutex_lock|b"

static void orders_and_groups(void **state)
{
	(void)state;
	ROWS({ 10, 1, 11, 9, 0, LOCK_A, 1 }, { 11, 1, 10, 9, 0, LOCK_A, 2 }, { 12, 1, 11, 5, 0, LOCK_A, 1 },
	     /* five wait 1 s each for 20, of which two are alike; one waits 20 s for 30 */
	     { 20, 1, 0, 3, 0, "libc:sleep|hold", 0 }, { 21, 1, 20, 1, 0, LOCK_A, 3 }, { 22, 1, 20, 1, 0, LOCK_B, 3 },
	     { 23, 1, 20, 1, 0, LOCK_A, 3 }, { 24, 1, 20, 1, 0, LOCK_A, 4 }, { 25, 1, 24, 1, 0, LOCK_A, 5 },
	     { 30, 1, 0, 3, 0, NULL, 0 }, { 31, 1, 30, 20, 0, LOCK_A, 6 },
	     /* a join is no lock, however long it takes; nor is a child */
	     { 40, 1, 0, 3, 0, NULL, 0 }, { 41, 1, 40, 1000, 0, "libc:pthread_join|main", 7 },
	     /* monitors of Java before its parked threads before conditions */
	     { 50, 1, 0, 900, 0, "pthread_cond_wait|pool", 8 }, { 51, 1, 0, 300, 0, "Unsafe_Park|", 9 },
	     { 52, 1, 0, 1, 0, "ObjectMonitor::enter()|", 10 }, { 53, 1, 0, 2, 0, "ObjectMonitor::enter()|", 11 });
	assert_string_equal(edges(false), "r10 r11 r12 l31 l21x2 l22 l24 l25 o41 u53x2 u51 u50 ");
}

static void hides_shells_that_wait_for_their_child(void **state)
{
	(void)state;
	ROWS({ 2, 2, 60, 5, WAIT_CHILD, NULL, 0 }, { 60, 60, 0, 4, 0, NULL, 0 });
	assert_string_equal(edges(false), "-1");
	assert_string_equal(edges(true), "o2 ");
	ROWS({ 70, 70, 2, 5, WAIT_PIPE, "libc:read|fetch", 0 });
	assert_string_equal(edges(false), "o2 o70 ");	/* now it is part of why 70 waits */
}

static void groups_processes_of_one_name(void **state)
{
	(void)state;
	ROWS({ 81, 81, 0, 5, 0, "ProcSleep|update", 0 }, { 82, 82, 0, 4, 0, "ProcSleep|update", 0 },
	     { 83, 83, 0, 9, 0, "ObjectMonitor::enter()|", 1 }, { 84, 83, 0, 1, 0, "libc:pause|main", 0 },
	     { 85, 85, 0, 9, 0, "ObjectMonitor::enter()|", 1 }, { 86, 85, 0, 1, 0, "libc:pause|main", 0 });
	assert_string_equal(edges(false), "u83 u85 u81x2 ");
}

static void keeps_edges_of_which_either_side_passes(void **state)
{
	(void)state;
	ROWS({ 20, 1, 0, 3, 0, NULL, 0 }, { 21, 1, 20, 2, 0, LOCK_A, 3 }, { 22, 1, 21, 1, 0, LOCK_B, 4 }, { 23, 1, 0, 9, 0, "ProcSleep|q", 0 });
	for (size_t i = 0; i < w.g.nr; i++)
		w.g.rows[i].passes = i == 1;
	assert_string_equal(edges(false), "l21 l22 ");
	assert_true(w.g.rows[0].shown && w.g.rows[2].shown);
	assert_false(w.g.rows[3].shown);
	w.g.rows[1].passes = false;
	w.g.rows[0].passes = true;
	assert_string_equal(edges(false), "l21 ");
}

/* However long chains are and however many wait for one: sorted, not searched. */
static void takes_as_long_as_sorting(void **state)
{
	enum { NR = 100000 };
	struct wait_edges e;

	(void)state;
	for (uint32_t i = 1; i <= NR; i++) {
		struct wait_row *row = array_push(&w.g.rows, &w.g.nr, &w.g.cap);

		*row = (struct wait_row){ .tid = i, .tgid = i, .passes = true };
		row->rec = (struct rec_sample){ .time_ns = NOW, .ran_ns = NOW - i, .cpu = UINT32_MAX,
						.owner = i % 2 ? i - 1 : 1, .wait = i % 2 ? i : 1 };
	}
	assert_int_equal(wait_graph_link(&w.g), 0);
	assert_int_equal(wait_edges_make(&w.g, false, &e), 0);
	assert_int_equal(e.edges[0].section, EDGES_LOCK);
	assert_in_range(e.nr, NR / 2, NR);
	wait_edges_release(&e);
}

/* ---- tables ---- */

static char *table(const char *const *cells, size_t nr, unsigned columns)
{
	struct wait_table t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(wait_table_open(&t, 4, 1 << 3), 0);
	for (size_t i = 0; i < nr; i++) {
		fputs(cells[i], t.cell);
		wait_table_cell(&t);
	}
	assert_int_equal(wait_table_put(&t, columns, out), 0);
	wait_table_close(&t);
	fclose(out);
	return text;
}

static void fits_the_terminal_and_cuts_nothing_elsewhere(void **state)
{
	static const char *const cells[] = {
		"1", "5.0 s", "a_thread_with_a_long_name 12345 (process 123)", "ns::find<int, char>(std::vector<int> const&, int)",
		"20", "15.0 s", "t", "x",
	};
	char *file = table(cells, 8, 0), *terminal = table(cells, 8, 60);

	(void)state;
	assert_non_null(strstr(file, cells[2]));
	assert_non_null(strstr(file, cells[3]));
	assert_non_null(strstr(file, "\n20  15.0 s  t  "));
	assert_null(strstr(file, " \n"));
	assert_non_null(strstr(terminal, "a_thread"));
	assert_non_null(strstr(terminal, "..."));
	assert_non_null(strstr(terminal, "ns::find"));
	for (char *line = strtok(terminal, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(columns_of(line, strlen(line)), 1, 60);
	free(file);
	free(terminal);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(finds_the_programs_own_function), TEST(knows_the_locks_of_runtimes), TEST(orders_and_groups),
		TEST(hides_shells_that_wait_for_their_child), TEST(keeps_edges_of_which_either_side_passes),
		TEST(groups_processes_of_one_name), TEST(takes_as_long_as_sorting),
		cmocka_unit_test(fits_the_terminal_and_cuts_nothing_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
