/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of Java threads in made memory: all headers of objects, letters of all sizes, and memory that leads anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/hotspot/hotspot_objects.h"
#include "src/runtimes/hotspot/hotspot_threads.h"
#include "src/runtimes/thread_name.h"
#include "tests/unit/python_world.h"

#define LIST_ADDR (WORLD_BASE + 0x40)
#define OOP_BASE_ADDR (WORLD_BASE + 0x58)
#define FIRST_ADDR (WORLD_BASE + 0x60)
#define LIST (WORLD_BASE + 0x100)
#define ARRAY (WORLD_BASE + 0x200)
#define THREAD(i) (WORLD_BASE + 0x1000 + (i) * 0x100)
#define OS(i) (WORLD_BASE + 0x2800 + (i) * 0x40)
#define HANDLE(i) (WORLD_BASE + 0x2c00 + (i) * 8)
#define OBJECT(i) (WORLD_BASE + 0x3000 + (i) * 0x100)
#define STRING(i) (WORLD_BASE + 0x4000 + (i) * 0x40)
#define TEXT(i) (WORLD_BASE + 0x5000 + (i) * 0x400)
#define OTHER (WORLD_BASE + 0x7000)
#define BIAS 0x1000ull
#define NR 3
#define TID(i) (1000u + (i))

enum { T_OS = 16, T_OBJECT = 24, T_NEXT = 32, NAME = 64, VALUE = 16 };

/* Bytes up to the length of an array, up to its data, and of a pointer in an object. */
struct header {
	unsigned length, data, pointer;
};

static const struct header plain = { 12, 16, 4 };

static struct hotspot_layout layout(unsigned major)
{
	return (struct hotspot_layout){
		.is_read = 1, .version = major << 24,
		.locks = {
			.java_threads_vaddr = LIST_ADDR - BIAS, .oop_base_vaddr = OOP_BASE_ADDR - BIAS,
			.list_length = 4, .list_threads = 16, .thread_next = HOTSPOT_ABSENT,
			.thread_os = T_OS, .os_tid = 8, .thread_object = T_OBJECT,
		},
	};
}

static void put_pointer(struct python_world *w, uint64_t at, uint64_t to, unsigned pointer)
{
	if (pointer == 8)
		world_u64(w, at, to);
	else
		world_u32(w, at, (uint32_t)(to - WORLD_BASE));
}

static void put_name(struct python_world *w, unsigned i, struct header h, const void *text, uint32_t bytes)
{
	put_pointer(w, OBJECT(i) + NAME, STRING(i), h.pointer);
	put_pointer(w, STRING(i) + VALUE, TEXT(i), h.pointer);
	world_u32(w, TEXT(i) + h.length, bytes);
	world_put(w, TEXT(i) + h.data, text, bytes);
}

static void put_world(struct python_world *w, unsigned pointer)
{
	memset(w, 0, sizeof(*w));
	world_u64(w, LIST_ADDR, LIST);
	world_u64(w, LIST, (uint64_t)NR << 32);
	world_u64(w, LIST + 16, ARRAY);
	world_u64(w, OOP_BASE_ADDR, pointer == 4 ? WORLD_BASE : 0);
	for (unsigned i = 0; i < NR; i++) {
		world_u64(w, ARRAY + 8 * i, THREAD(i));
		world_u64(w, THREAD(i) + T_OS, OS(i));
		world_u64(w, OS(i) + 8, TID(i));
		world_u64(w, THREAD(i) + T_OBJECT, HANDLE(i));
		world_u64(w, HANDLE(i), OBJECT(i));
		/* A field that leads to what has no name, in front of it. */
		put_pointer(w, OBJECT(i) + NAME - 8, OTHER, pointer);
	}
}

static void ask(struct python_world *w, const struct hotspot_layout *l, const char *const comms[NR], struct runtime_thread_name names[NR])
{
	const struct target_memory m = { world_read, w };

	assert_true(hotspot_knows_threads(l));
	for (unsigned i = 0; i < NR; i++) {
		names[i] = (struct runtime_thread_name){ .tid = TID(i) };
		strncpy(names[i].comm, comms[i], 15);
	}
	hotspot_thread_names(l, BIAS, &m, names, NR);
}

static void drop(struct runtime_thread_name names[NR])
{
	for (unsigned i = 0; i < NR; i++)
		free(names[i].name);
}

/* What thread 0 is called whose name has so many bytes, if the kernel says comm; NULL: nothing. */
static void is_called(struct python_world *w, const char *expected, const char *comm, const void *text, uint32_t bytes)
{
	const struct hotspot_layout l = layout(17);
	const char *const comms[NR] = { comm, "short", "short" };
	struct runtime_thread_name names[NR];

	put_world(w, 4);
	put_name(w, 0, plain, text, bytes);
	ask(w, &l, comms, names);
	assert_int_equal(names[0].is_found, expected != NULL);
	assert_int_equal(names[0].is_of_comm, expected != NULL);
	if (expected)
		assert_string_equal(names[0].name, expected);
	else
		assert_null(names[0].name);
	drop(names);
}

#define LATIN(text) (text), sizeof(text) - 1
#define UTF16(text) (text), sizeof(text) - 2

static void headers(void **state)
{
	static const struct header all[] = { { 12, 16, 4 }, { 8, 12, 4 }, { 16, 24, 4 }, { 16, 20, 4 },
					     { 12, 16, 8 }, { 8, 12, 8 }, { 16, 24, 8 }, { 16, 20, 8 } };
	static const char *const comms[NR] = { "the name of num", "ForkJoinPool-1-", "main" };
	struct python_world *w = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct hotspot_layout l = layout(25);
		struct runtime_thread_name names[NR];

		put_world(w, all[i].pointer);
		put_name(w, 0, all[i], LATIN("the name of number zero"));
		put_name(w, 1, all[i], LATIN("ForkJoinPool-1-worker-12"));
		put_name(w, 2, all[i], LATIN("main, but with more letters"));
		ask(w, &l, comms, names);
		assert_string_equal(names[0].name, "the name of number zero");
		assert_string_equal(names[1].name, "ForkJoinPool-1-worker-12");
		/* The kernel has a short name: there is no more to it. */
		assert_true(names[2].is_found);
		assert_null(names[2].name);
		drop(names);
	}
}

/* A version without handles, which chains its threads. */
static void chain(void **state)
{
	static const char *const comms[NR] = { "the name of num", "short", "the name of num" };
	struct python_world *w = *state;
	struct hotspot_layout l = layout(11);
	struct runtime_thread_name names[NR];

	put_world(w, 4);
	l.locks.java_threads_vaddr = 0;
	assert_false(hotspot_knows_threads(&l));
	l.locks.first_thread_vaddr = FIRST_ADDR - BIAS;
	assert_false(hotspot_knows_threads(&l));
	l.locks.thread_next = T_NEXT;
	world_u64(w, FIRST_ADDR, THREAD(2));
	for (unsigned i = 0; i < NR; i++) {
		world_u64(w, THREAD(i) + T_NEXT, i ? THREAD(i - 1) : 0);
		world_u64(w, THREAD(i) + T_OBJECT, OBJECT(i));
	}
	put_name(w, 0, plain, LATIN("the name of number zero"));
	put_name(w, 2, plain, LATIN("the name of number two"));
	ask(w, &l, comms, names);
	assert_string_equal(names[0].name, "the name of number zero");
	assert_string_equal(names[2].name, "the name of number two");
	drop(names);
	/* It has no end. */
	world_u64(w, THREAD(0) + T_NEXT, THREAD(2));
	ask(w, &l, comms, names);
	assert_string_equal(names[0].name, "the name of number zero");
	drop(names);
}

static void letters(void **state)
{
	struct python_world *w = *state;
	char many[1000], expected[RUNTIME_THREAD_BYTES];

	is_called(w, "exactly fifteen", "exactly fifteen", LATIN("exactly fifteen"));
	is_called(w, "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4 umlauts", "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4 ",
		  LATIN("\xe4\xe4\xe4\xe4\xe4\xe4\xe4 umlauts"));
	/* The kernel's was cut within a letter. */
	is_called(w, "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\xc3", LATIN("\xe4\xe4\xe4\xe4\xe4\xe4\xe4\xe4"));
	is_called(w, "\u4e16\u754c\u4e16\u754c\u4e16\u754c", "\u4e16\u754c\u4e16\u754c\u4e16", UTF16(u"\u4e16\u754c\u4e16\u754c\u4e16\u754c"));
	/* Letters of four bytes are two units of three bytes each in the kernel's. */
	is_called(w, "\U0001f600\U0001f600\U0001f600", "\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd",
		  UTF16(u"\U0001f600\U0001f600\U0001f600"));
	is_called(w, "a\ufffd" "b after a zero, and more", "a\xc0\x80" "b after a ze", LATIN("a\0b after a zero, and more"));
	memset(many, 'x', sizeof(many));
	memset(expected, 'x', sizeof(expected));
	expected[RUNTIME_THREAD_BYTES - 5] = 0;
	is_called(w, expected, "xxxxxxxxxxxxxxx", many, sizeof(many));
}

/* What the kernel's name is not the beginning of. */
static void other_names(void **state)
{
	struct python_world *w = *state;

	is_called(w, NULL, "the name of num", LATIN("the name of mum, who is not me"));
	is_called(w, NULL, "the name of num", LATIN("the name of n"));
	is_called(w, NULL, "the name of num", LATIN(""));
	is_called(w, NULL, "\u4e16\u754c\u4e16\u754c\u4e16", UTF16(u"\u4e16\u754c\u4e16\u754c"));
}

/* The field that the first thread was found by leads elsewhere in the next: a class that has a copy of its own. */
static void second_way(void **state)
{
	static const char *const comms[NR] = { "the name of num", "the name of num", "short" };
	struct python_world *w = *state;
	const struct hotspot_layout l = layout(17);
	struct runtime_thread_name names[NR];

	put_world(w, 4);
	put_name(w, 0, plain, LATIN("the name of number zero"));
	put_pointer(w, OBJECT(0) + 32, STRING(0), 4);
	put_name(w, 1, plain, LATIN("the name of number one"));
	ask(w, &l, comms, names);
	assert_string_equal(names[0].name, "the name of number zero");
	assert_string_equal(names[1].name, "the name of number one");
	drop(names);
}

/* Words of the memory lead anywhere, reads fail, fields are anywhere: it ends, and what is taken begins with the kernel's name. */
static void wrong_memory(void **state)
{
	static const uint64_t words[] = { 0, 1, 8, ~0ull, WORLD_BASE, WORLD_BASE + WORLD_BYTES - 8, OBJECT(0), TEXT(0), 0x7fffffff00000000ull, 1ull << 63 };
	static const char *const comms[NR] = { "the name of num", "ForkJoinPool-1-", "the name of num" };
	static const uint64_t places[] = { LIST_ADDR, LIST, LIST + 16, ARRAY, ARRAY + 8, OOP_BASE_ADDR, THREAD(0) + T_OS, THREAD(0) + T_OBJECT,
		OS(0) + 8, HANDLE(0), OBJECT(0) + NAME, STRING(0) + VALUE, TEXT(0) + 8 };
	struct python_world *w = *state;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) * 10; i++) {
		const struct hotspot_layout l = layout(17);
		struct runtime_thread_name names[NR];

		put_world(w, 4);
		for (unsigned t = 0; t < NR; t++)
			put_name(w, t, plain, LATIN("the name of number zero"));
		world_u64(w, places[i / 10], words[i % 10]);
		w->fail_at = i % 7 ? 0 : (unsigned)(i / 7);
		w->error = -EFAULT;
		ask(w, &l, comms, names);
		for (unsigned t = 0; t < NR; t++)
			assert_true(!names[t].name || !strncmp(names[t].name, comms[t], 15));
		assert_true(w->reads < 200000);
		drop(names);
	}
}

static void wrong_fields(void **state)
{
	static const uint32_t places[] = { 0, 1, 4, 1000, 4088, 4095, 4096 };
	static const char *const comms[NR] = { "the name of num", "ForkJoinPool-1-", "the name of num" };
	struct python_world *w = *state;

	put_world(w, 4);
	put_name(w, 0, plain, LATIN("the name of number zero"));
	for (size_t field = 0; field < 6; field++)
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			struct hotspot_layout l = layout(17);
			struct runtime_thread_name names[NR];

			(&l.locks.list_length)[field] = places[i];
			w->reads = 0;
			ask(w, &l, comms, names);
			drop(names);
		}
}

/* Nothing is read where all names are whole. */
static void short_names(void **state)
{
	static const char *const comms[NR] = { "java", "GC Thread#0", "fourteen bytes" };
	struct python_world *w = *state;
	const struct hotspot_layout l = layout(17);
	struct runtime_thread_name names[NR];

	put_world(w, 4);
	ask(w, &l, comms, names);
	assert_int_equal(w->reads, 0);
	for (unsigned i = 0; i < NR; i++)
		assert_true(names[i].is_found && !names[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(headers, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(chain, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(letters, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(other_names, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(second_way, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(wrong_memory, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(wrong_fields, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(short_names, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
