/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of Python's threads in made definitions: which of them wait for work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "src/waits/idle.h"
#include "src/waits/wait_function.h"

#define LIB "/usr/lib/python3.11/"
#define ADD(TAG, field, ...) \
	assert_int_equal(definition_store_record(t, &(struct record){ .tag = REC_##TAG, .field = __VA_ARGS__ }), 0)

static struct definition_store *t;
static uint32_t strings, frames;

static int setup(void **state)
{
	(void)state;
	t = definition_store_new();
	strings = frames = 0;
	return t ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	definition_store_free(t);
	return 0;
}

static uint32_t string(const char *s)
{
	ADD(STRING, string, { ++strings, s, strlen(s) });
	return strings;
}

/* Puts a function on the stack; file NULL: a native one. */
static void call(const char *name, const char *file)
{
	const struct rec_line line = { .func = frames + 1 };
	const uint32_t id = frames + 1, name_id = string(name), file_id = file ? string(file) : 0;

	ADD(FRAME, frame, { id, FRAME_USER, 0, 0, 0x1000u + id });
	ADD(NODE, node, { id, id - 1, id });
	ADD(FUNC, func, { id, name_id, name_id, file_id, 1, file ? LANG_PYTHON : LANG_C, 0 });
	ADD(SYMBOL, symbol, { id, SYMBOL_OK, 0, &line, 1 });
	frames = id;
}

static void begin_thread(void)
{
	call("start_thread", NULL);
	call("[python3.11+0x1234]", NULL);		/* nameless ones count for nothing */
	call("[python3.11+0x2345]", NULL);
	call("Thread._bootstrap", LIB "threading.py");
	call("Thread._bootstrap_inner", LIB "threading.py");
	call("Thread.run", LIB "threading.py");
}

static bool waits_in_lock(void)
{
	call("PyThread_acquire_lock_timed", NULL);
	call("sem_clockwait", NULL);
	return wait_is_for_work(t, frames, IDLE_DEPTH);
}

static void workers_of_pools(void **state)
{
	(void)state;
	begin_thread();
	call("_worker", LIB "concurrent/futures/thread.py");
	assert_true(waits_in_lock());
}

static void workers_of_multiprocessing(void **state)
{
	(void)state;
	call("main", NULL);
	call("worker", LIB "multiprocessing/pool.py");
	call("get", LIB "multiprocessing/queues.py");
	call("Connection._recv", LIB "multiprocessing/connection.py");
	call("read", NULL);
	assert_true(wait_is_for_work(t, frames, IDLE_DEPTH));
}

static void a_worker_at_work_is_none(void **state)
{
	(void)state;
	begin_thread();
	call("_worker", LIB "concurrent/futures/thread.py");
	call("_WorkItem.run", LIB "concurrent/futures/thread.py");
	call("job", "/srv/app.py");
	assert_false(waits_in_lock());
}

static void consumers_of_queues(void **state)
{
	(void)state;
	begin_thread();
	call("consume", "/srv/app.py");
	call("Queue.get", LIB "queue.py");
	call("Condition.wait", LIB "threading.py");
	assert_true(waits_in_lock());
}

static void not_below_much_of_the_program(void **state)
{
	(void)state;
	begin_thread();
	for (int i = 0; i <= IDLE_DEPTH; i++)
		call("job", "/srv/app.py");
	call("Queue.get", LIB "queue.py");
	assert_false(waits_in_lock());
}

static void not_in_the_first_thread(void **state)
{
	(void)state;
	call("main", NULL);
	call("<module>", "/srv/app.py");
	call("Queue.get", LIB "queue.py");
	assert_false(waits_in_lock());
}

static void not_for_a_lock(void **state)
{
	(void)state;
	begin_thread();
	call("job", "/srv/app.py");
	assert_false(waits_in_lock());
}

/* A program may have a file of that name, too. */
static void not_in_files_of_the_program(void **state)
{
	(void)state;
	begin_thread();
	call("_worker", "/srv/concurrent/futures/thread.py");
	call("Queue.get", "/srv/queue.py");
	assert_false(waits_in_lock());
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(workers_of_pools), TEST(workers_of_multiprocessing), TEST(a_worker_at_work_is_none), TEST(consumers_of_queues),
		TEST(not_below_much_of_the_program), TEST(not_in_the_first_thread), TEST(not_for_a_lock),
		TEST(not_in_files_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
