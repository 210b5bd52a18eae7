/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Java threads, monitors and objects in made memory: who holds what they wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/runtime.h"
#include "tests/unit/python_world.h"

#define LIST_ADDR (WORLD_BASE + 0x40)		/* the static variable */
#define LIST (WORLD_BASE + 0x100)
#define ARRAY (WORLD_BASE + 0x200)
#define KLASS_BASE_ADDR (WORLD_BASE + 0x50)
#define OOP_BASE_ADDR (WORLD_BASE + 0x58)
#define OOP_SHIFT_ADDR (WORLD_BASE + 0x60)
#define THREAD(i) (WORLD_BASE + 0x1000 + (i) * 0x400)
#define OS(i) (WORLD_BASE + 0x2800 + (i) * 0x40)
#define HANDLE(i) (WORLD_BASE + 0x2c00 + (i) * 8)
#define OBJECT(i) (WORLD_BASE + 0x3000 + (i) * 0x100)
#define LOCK(i) (WORLD_BASE + 0x4000 + (i) * 0x40)
#define MONITOR (WORLD_BASE + 0x5000)
#define KLASS(i) (WORLD_BASE + 0x6000 + (i) * 0x100)
#define SYMBOL(i) (WORLD_BASE + 0x7000 + (i) * 0x100)
#define STACK(i) (0x7e0000000000 + (i) * 0x100000ull)
#define THREADS 4
#define BIAS 0x1000ull
#define NR_STACK 0x100000
#define TID(i) (1000u + (i))

enum {
	T_OS = 16, T_OBJECT = 24, T_PENDING = 32, T_STACK_BASE = 40, T_STACK_SIZE = 48, T_OWNER_ID = 56,
	T_LOCK_STACK = 64, PARK = 44, OWNER = 24, M_OWNER = 64, M_OBJECT = 8,
};

/* Of a version; fields that a test leaves out are HOTSPOT_ABSENT. */
static struct hotspot_layout layout(unsigned major)
{
	return (struct hotspot_layout){
		.is_read = 1, .version = major << 24, .klass_name = 16, .symbol_body = 6,
		.locks = {
			.java_threads_vaddr = LIST_ADDR - BIAS, .oop_base_vaddr = OOP_BASE_ADDR - BIAS,
			.oop_shift_vaddr = OOP_SHIFT_ADDR - BIAS, .klass_base_vaddr = KLASS_BASE_ADDR - BIAS,
			.list_length = 4, .list_threads = 16, .thread_os = T_OS, .os_tid = 8,
			.thread_object = T_OBJECT, .thread_pending = T_PENDING,
			.thread_stack_base = T_STACK_BASE, .thread_stack_size = T_STACK_SIZE,
			.thread_owner_id = T_OWNER_ID, .thread_lock_stack = T_LOCK_STACK,
			.lock_stack_top = 0, .lock_stack_base = 16, .monitor_owner = M_OWNER,
			.monitor_object = M_OBJECT, .object_klass = 8, .klass_super = 8,
		},
	};
}

static void put_text(struct python_world *w, uint64_t at, const char *text)
{
	for (size_t i = 0; i <= strlen(text); i += 8) {
		uint64_t word = 0;

		memcpy(&word, text + i, strnlen(text + i, 8));
		world_u64(w, at + i, word);
	}
}

/* Threads, and classes: 0 is what locks are, 1 its super class's, 2 another one's. */
static void put_world(struct python_world *w)
{
	memset(w, 0, sizeof(*w));
	world_u64(w, LIST_ADDR, LIST);
	world_u64(w, LIST, (uint64_t)THREADS << 32);
	world_u64(w, LIST + 16, ARRAY);
	world_u64(w, OOP_BASE_ADDR, WORLD_BASE);
	world_u64(w, KLASS_BASE_ADDR, WORLD_BASE);
	for (unsigned i = 0; i < THREADS; i++) {
		world_u64(w, ARRAY + 8 * i, THREAD(i));
		world_u64(w, THREAD(i) + T_OS, OS(i));
		world_u64(w, OS(i) + 8, TID(i));
		world_u64(w, THREAD(i) + T_OBJECT, HANDLE(i));
		world_u64(w, HANDLE(i), OBJECT(i));
		world_u64(w, THREAD(i) + T_STACK_BASE, STACK(i) + NR_STACK);
		world_u64(w, THREAD(i) + T_STACK_SIZE, NR_STACK);
		world_u64(w, THREAD(i) + T_OWNER_ID, 70 + i);
		world_u64(w, THREAD(i) + T_LOCK_STACK, T_LOCK_STACK + 16);
		world_u64(w, OBJECT(i) + 8, KLASS(2) - WORLD_BASE);
	}
	world_u64(w, KLASS(0) + 8, KLASS(1));
	for (unsigned i = 0; i < 3; i++)
		world_u64(w, KLASS(i) + 16, SYMBOL(i));
	put_text(w, SYMBOL(0) + 6, "java/util/concurrent/locks/ReentrantLock$NonfairSync");
	put_text(w, SYMBOL(1) + 6, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
	put_text(w, SYMBOL(2) + 6, "java/lang/Thread");
}

/* Thread i is parked for a lock that thread owner holds; pointers have so many bytes. */
static void put_park(struct python_world *w, unsigned i, unsigned owner, unsigned bytes)
{
	uint64_t base = bytes == 4 ? WORLD_BASE : 0;

	world_u64(w, LOCK(i) + 8, KLASS(0) - WORLD_BASE);
	if (bytes == 4) {
		world_u64(w, OBJECT(i) + PARK - 4, (LOCK(i) - base) << 32);
		world_u64(w, LOCK(i) + OWNER, OBJECT(owner) - base);
	} else {
		world_u64(w, OBJECT(i) + PARK + 4, LOCK(i));
		world_u64(w, LOCK(i) + OWNER, OBJECT(owner));
	}
}

static uint32_t owner_in(struct python_world *w, unsigned major, unsigned waiter)
{
	const struct hotspot_layout l = layout(major);
	const struct target_memory m = { world_read, w };
	struct runtime_wait_hints hints = { 0 };
	struct runtime_wait wait = { TID(waiter), 77 };
	uint32_t first;

	w->reads = 0;
	assert_true(hotspot_knows_locks(&l));
	assert_int_equal(hotspot_waits(&l, BIAS, &m, &hints, &wait, 1), 0);
	first = wait.owner;
	/* The same with what was found out. */
	assert_int_equal(hotspot_waits(&l, BIAS, &m, &hints, &wait, 1), 0);
	assert_int_equal(wait.owner, first);
	return first;
}

static void put_monitor(struct python_world *w, unsigned waiter, uint64_t owner)
{
	world_u64(w, THREAD(waiter) + T_PENDING, MONITOR);
	world_u64(w, MONITOR + M_OWNER, owner);
	world_u64(w, MONITOR + M_OBJECT, MONITOR + 0x100);
	world_u64(w, MONITOR + 0x100, LOCK(9));
}

static void monitors(void **state)
{
	struct python_world *w = *state;

	put_world(w);
	put_monitor(w, 0, THREAD(2));
	assert_int_equal(owner_in(w, 17, 0), TID(2));
	assert_int_equal(owner_in(w, 17, 1), 0);
	put_monitor(w, 0, STACK(3) + 0x40);
	assert_int_equal(owner_in(w, 17, 0), TID(3));
	put_monitor(w, 0, STACK(3) + NR_STACK + 8 * 0x100000ull);
	assert_int_equal(owner_in(w, 17, 0), 0);
	put_monitor(w, 0, 71);
	assert_int_equal(owner_in(w, 25, 0), TID(1));
	put_monitor(w, 0, 0);
	assert_int_equal(owner_in(w, 25, 0), 0);
}

/* The owner has locked the object before it became a monitor. */
static void anonymous_owner(void **state)
{
	struct python_world *w = *state;

	put_world(w);
	put_monitor(w, 0, 1);
	assert_int_equal(owner_in(w, 25, 0), 0);
	world_u64(w, THREAD(3) + T_LOCK_STACK, T_LOCK_STACK + 16 + 8);
	world_u64(w, THREAD(3) + T_LOCK_STACK + 16, LOCK(9));
	assert_int_equal(owner_in(w, 25, 0), TID(3));
	assert_int_equal(owner_in(w, 17, 0), TID(3));
	/* What lies behind the last one is no lock any more. */
	world_u64(w, THREAD(3) + T_LOCK_STACK, T_LOCK_STACK + 16);
	assert_int_equal(owner_in(w, 25, 0), 0);
}

static void parked(void **state)
{
	struct python_world *w = *state;

	for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
		put_world(w);
		if (bytes == 8)
			world_u64(w, OOP_BASE_ADDR, 0);
		put_park(w, 1, 3, bytes);
		assert_int_equal(owner_in(w, 17, 1), TID(3));
		assert_int_equal(owner_in(w, 17, 0), 0);
		/* Its own lock is none to wait for. */
		put_park(w, 1, 1, bytes);
		assert_int_equal(owner_in(w, 17, 1), 0);
		/* An object of another class. */
		put_park(w, 1, 3, bytes);
		world_u64(w, LOCK(1) + 8, KLASS(2) - WORLD_BASE);
		assert_int_equal(owner_in(w, 17, 1), 0);
	}
}

/* The class is in the highest bits of an object's first word, or a pointer of 8 bytes. */
static void other_headers(void **state)
{
	struct python_world *w = *state;

	put_world(w);
	put_park(w, 1, 3, 4);
	world_u64(w, LOCK(1) + 8, 0);
	world_u64(w, LOCK(1), (KLASS(0) - WORLD_BASE) << 42 | 5);
	assert_int_equal(owner_in(w, 25, 1), TID(3));
	world_u64(w, LOCK(1), 0);
	assert_int_equal(owner_in(w, 25, 1), 0);
	world_u64(w, LOCK(1) + 8, KLASS(0));
	assert_int_equal(owner_in(w, 25, 1), TID(3));
}

static void versions(void **state)
{
	struct hotspot_layout l = layout(17);

	(void)state;
	assert_true(hotspot_knows_locks(&l));
	l.locks.thread_lock_stack = l.locks.thread_owner_id = HOTSPOT_ABSENT;
	assert_true(hotspot_knows_locks(&l));
	l.locks.thread_os = HOTSPOT_ABSENT;
	assert_false(hotspot_knows_locks(&l));
	l = layout(17);
	l.locks.java_threads_vaddr = 0;
	assert_false(hotspot_knows_locks(&l));
	l = layout(17);
	l.is_read = 0;
	assert_false(hotspot_knows_locks(&l));
}

/* A list of threads that leads nowhere. */
static void no_threads(void **state)
{
	struct python_world *w = *state;
	const struct hotspot_layout l = layout(17);
	const struct target_memory m = { world_read, w };
	struct runtime_wait_hints hints = { 0 };
	struct runtime_wait wait = { TID(0), 77 };

	put_world(w);
	world_u64(w, LIST_ADDR, 8);
	assert_true(hotspot_waits(&l, BIAS, &m, &hints, &wait, 1) < 0);
	world_u64(w, LIST_ADDR, LIST);
	world_u64(w, LIST, ~0ull);
	assert_true(hotspot_waits(&l, BIAS, &m, &hints, &wait, 1) < 0);
}

/*
 * Tables of the process say that its fields are anywhere up to where hotspot_layout.c takes them. All is read within what was copied
 * (which sanitizers tell), and the threads whose fields are where they were still have their owners.
 */
static void tables_that_lie(void **state)
{
	static const uint32_t places[] = { 0, 1, 4, 1000, 4000, 4032, 4033, 4084, 4088, 4089, 4092, 4093, 4095, 4096 };
	const struct hotspot_layout good = layout(25);
	struct python_world *w = *state;
	const struct target_memory m = { world_read, w };
	const size_t nr = sizeof(places) / sizeof(places[0]);

	put_world(w);
	put_park(w, 1, 3, 4);
	put_monitor(w, 0, 1);
	for (size_t field = 0; &good.locks.list_length + field <= &good.locks.klass_super; field++)
		for (size_t i = 0; i < nr * nr; i++) {
			struct hotspot_layout l = good;
			struct runtime_wait_hints hints = { 0 };
			struct runtime_wait waits[] = { { TID(0), 0 }, { TID(1), 0 } };

			(&l.locks.list_length)[field] = places[i % nr];
			l.locks.thread_lock_stack = places[i / nr];
			w->reads = 0;
			if (hotspot_knows_locks(&l))
				hotspot_waits(&l, BIAS, &m, &hints, waits, 2);
		}
}

/* The top of a lock stack lies behind the thread: it has no locks. */
static void lock_stack_outside(void **state)
{
	struct python_world *w = *state;
	struct hotspot_layout l = layout(25);
	const struct target_memory m = { world_read, w };
	struct runtime_wait_hints hints = { 0 };
	struct runtime_wait wait = { TID(0), 0 };

	put_world(w);
	put_monitor(w, 0, 1);
	l.locks.lock_stack_top = 4096;
	assert_int_equal(hotspot_waits(&l, BIAS, &m, &hints, &wait, 1), 0);
	assert_int_equal(wait.owner, 0);
	/* It says that it has grown far beyond the thread. */
	l = layout(25);
	world_u64(w, THREAD(3) + T_LOCK_STACK, UINT32_MAX);
	world_u64(w, THREAD(3) + T_LOCK_STACK + 16, LOCK(9));
	assert_int_equal(hotspot_waits(&l, BIAS, &m, &hints, &wait, 1), 0);
	assert_int_equal(wait.owner, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(monitors, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(anonymous_owner, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(parked, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(other_headers, world_setup, world_teardown),
		cmocka_unit_test(versions),
		cmocka_unit_test_setup_teardown(no_threads, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(tables_that_lie, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(lock_stack_outside, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
