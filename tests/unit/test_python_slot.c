/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads in made memory, each with its state somewhere near its pointer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/runtimes/python/python_slot.h"
#include "tests/unit/python_world.h"

#define HEAD (WORLD_BASE + 0x40)
#define INTERPRETER (WORLD_BASE + 0x1000)
#define STATE(i) (WORLD_BASE + 0x2000 + (i) * 0x400)
#define POINTER(i) (WORLD_BASE + 0x6000 + (i) * 0x1000)
#define SLOT 792

static struct python_layout layout;

static int setup(void **state)
{
	return world_setup(state) || python_layout_of(11, &layout) ? -1 : 0;
}

static void put_threads(struct python_world *w, unsigned nr)
{
	world_u64(w, HEAD, INTERPRETER);
	world_u64(w, INTERPRETER + layout.threads_head, nr ? STATE(0) : 0);
	for (unsigned i = 0; i < nr; i++) {
		world_u64(w, STATE(i) + layout.thread_next, i + 1 < nr ? STATE(i + 1) : 0);
		world_u64(w, STATE(i) + layout.thread_interpreter, INTERPRETER);
		world_u64(w, STATE(i) + layout.thread_id, POINTER(i));
		world_u64(w, POINTER(i) + SLOT, STATE(i));
	}
}

static int find(struct python_world *w, int32_t *slot)
{
	const struct target_memory m = { world_read, w };

	w->reads = 0;
	return python_slot_find(&layout, &m, HEAD, slot);
}

static void finds_what_is_common(void **state)
{
	struct python_world *w = *state;
	int32_t slot = 0;

	put_threads(w, 3);
	world_u64(w, POINTER(1) + 2000, STATE(1));	/* of one thread alone */
	assert_int_equal(find(w, &slot), 0);
	assert_int_equal(slot, SLOT);
	world_u64(w, POINTER(2) + SLOT, STATE(1));
	assert_int_equal(find(w, &slot), -ENOENT);
}

static void takes_the_key_and_not_the_variable(void **state)
{
	struct python_world *w = *state;
	int32_t slot = 0;

	put_threads(w, 1);
	world_u64(w, POINTER(0) + 64, STATE(0));
	assert_int_equal(find(w, &slot), 0);
	assert_int_equal(slot, SLOT);
}

/* Thread 0 has a state in each of two interpreters, and the key has that of the second. */
static void threads_may_have_two_states(void **state)
{
	struct python_world *w = *state;
	int32_t slot = 0;

	put_threads(w, 2);
	world_u64(w, HEAD, INTERPRETER + 0x400);
	world_u64(w, INTERPRETER + 0x400 + layout.interpreter_next, INTERPRETER);
	world_u64(w, INTERPRETER + 0x400 + layout.threads_head, STATE(2));
	world_u64(w, STATE(2) + layout.thread_interpreter, INTERPRETER + 0x400);
	world_u64(w, STATE(2) + layout.thread_id, POINTER(0));
	assert_int_equal(find(w, &slot), 0);
	assert_int_equal(slot, SLOT);
	world_u64(w, POINTER(0) + SLOT, STATE(2));
	assert_int_equal(find(w, &slot), 0);
	world_u64(w, POINTER(1) + SLOT, STATE(2));	/* that of the other thread */
	assert_int_equal(find(w, &slot), -ENOENT);
}

static void waits_for_the_runtime(void **state)
{
	struct python_world *w = *state;
	int32_t slot;

	assert_int_equal(find(w, &slot), -EAGAIN);
	put_threads(w, 0);
	assert_int_equal(find(w, &slot), -EAGAIN);
	put_threads(w, 1);
	world_u64(w, STATE(0) + layout.thread_id, 0);	/* it is just being made */
	assert_int_equal(find(w, &slot), -EAGAIN);
}

static void threads_that_ended_do_not_count(void **state)
{
	struct python_world *w = *state;
	int32_t slot = 0;

	put_threads(w, 2);
	world_u64(w, STATE(1) + layout.thread_id, 0x1000);
	assert_int_equal(find(w, &slot), 0);
	assert_int_equal(slot, SLOT);
}

static void wrong_offsets_are_seen(void **state)
{
	struct python_world *w = *state;
	int32_t slot;

	put_threads(w, 2);
	world_u64(w, STATE(1) + layout.thread_interpreter, INTERPRETER + 8);
	assert_int_equal(find(w, &slot), -ENOENT);
}

static void circles_end(void **state)
{
	struct python_world *w = *state;
	int32_t slot = 0;

	put_threads(w, 2);
	world_u64(w, STATE(1) + layout.thread_next, STATE(0));
	assert_int_equal(find(w, &slot), 0);
	world_u64(w, INTERPRETER + layout.threads_head, 0);
	world_u64(w, INTERPRETER + layout.interpreter_next, INTERPRETER);
	assert_int_equal(find(w, &slot), -EAGAIN);
}

static void errors_are_passed_on(void **state)
{
	struct python_world *w = *state;
	unsigned reads;
	int32_t slot;

	put_threads(w, 2);
	assert_int_equal(find(w, &slot), 0);
	reads = w->reads;
	w->error = -EAGAIN;
	for (w->fail_at = 1; w->fail_at <= reads; w->fail_at++)
		assert_int_equal(find(w, &slot), -EAGAIN);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_what_is_common), TEST(takes_the_key_and_not_the_variable), TEST(waits_for_the_runtime),
		TEST(threads_may_have_two_states),
		TEST(threads_that_ended_do_not_count), TEST(wrong_offsets_are_seen), TEST(circles_end),
		TEST(errors_are_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
