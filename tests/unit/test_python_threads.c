/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of CPython 3.11 in made memory: sys.modules, a module, its _active, and Thread objects in both of their shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/python/python_threads.h"
#include "tests/unit/python_world.h"

#define HEAD (WORLD_BASE + 0x40)
#define INTERPRETER (WORLD_BASE + 0x1000)
#define MODULES (WORLD_BASE + 0x2000)
#define MODULE (WORLD_BASE + 0x2800)
#define GLOBALS (WORLD_BASE + 0x3000)
#define ACTIVE (WORLD_BASE + 0x3800)
#define TYPE (WORLD_BASE + 0x4000)
#define KEYS (WORLD_BASE + 0x4800)
#define THREAD(i) (WORLD_BASE + 0x6000 + (i) * 0x800)
#define TEXTS (WORLD_BASE + 0xc000)

#define MANAGED_DICT (1u << 4)
#define NR 3

struct memory {
	struct python_world w;
	uint64_t text;			/* where the next string goes */
};

static struct python_layout layout;

static int setup(void **state)
{
	struct memory *m = calloc(1, sizeof(*m));

	*state = m;
	if (m)
		m->text = TEXTS;
	return m && !python_layout_of(11, &layout) ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static uint64_t text(struct memory *m, const char *s)
{
	uint64_t at = m->text;

	world_string(&m->w, at, 1, 1, s, strlen(s));
	m->text += 128;
	return at;
}

static uint64_t number(struct memory *m, uint32_t n)
{
	uint64_t at = m->text;

	world_u64(&m->w, at, 1);
	world_u64(&m->w, at + 16, 1);
	world_u32(&m->w, at + 24, n);
	m->text += 128;
	return at;
}

/* Keys of up to 8 entries; returns where the first entry is. Kind 0: they have hashes. */
static uint64_t put_keys(struct memory *m, uint64_t at, uint8_t kind, uint64_t nr)
{
	const uint8_t head[] = { 3, 3, kind };

	world_put(&m->w, at + 8, head, sizeof(head));
	world_u64(&m->w, at + 24, nr);
	return at + 32 + 8;
}

static void put_entry(struct memory *m, uint64_t entries, unsigned i, uint64_t key, uint64_t value)
{
	world_u64(&m->w, entries + i * 16, key);
	world_u64(&m->w, entries + i * 16 + 8, value);
}

/* A dictionary with its keys behind it. */
static uint64_t put_dict(struct memory *m, uint64_t at, uint8_t kind, uint64_t nr)
{
	world_u64(&m->w, at + 32, at + 0x100);
	return put_keys(m, at + 0x100, kind, nr);
}

/* The attributes of the first thread are in an array, those of the second in a dictionary. */
static void put_threads(struct memory *m, const char *const names[NR])
{
	uint64_t entries = put_dict(m, ACTIVE, 0, NR + 1), shared = put_keys(m, KEYS, 2, 3);

	world_u64(&m->w, TYPE + 168, MANAGED_DICT);
	world_u64(&m->w, TYPE + 872, KEYS);
	put_entry(m, shared, 0, text(m, "_target"), 0);
	put_entry(m, shared, 1, text(m, "_name"), 0);
	put_entry(m, shared, 2, text(m, "_native_id"), 0);
	for (unsigned i = 0; i < NR; i++) {
		uint64_t values = THREAD(i) + 0x100, dict = THREAD(i) + 0x200, own;

		world_u64(&m->w, THREAD(i) + 8, TYPE);
		world_u64(&m->w, entries + i * 24 + 16, THREAD(i));
		if (i == 1) {
			world_u64(&m->w, THREAD(i) - 24, dict);
			own = put_dict(m, dict, 1, 2);
			put_entry(m, own, 0, text(m, "_native_id"), number(m, 100 + i));
			put_entry(m, own, 1, text(m, "_name"), text(m, names[i]));
			continue;
		}
		world_u64(&m->w, THREAD(i) - 32, values);
		world_u64(&m->w, values + 8, text(m, names[i]));
		world_u64(&m->w, values + 16, number(m, 100 + i));
	}
}

static void put_process(struct memory *m)
{
	uint64_t entries;

	world_u64(&m->w, HEAD, INTERPRETER);
	world_u64(&m->w, INTERPRETER + layout.interpreter_modules, MODULES);
	entries = put_dict(m, MODULES, 1, 3);
	put_entry(m, entries, 0, text(m, "sys"), MODULE + 8);
	put_entry(m, entries, 1, 0, 0);			/* of a module that was removed */
	put_entry(m, entries, 2, text(m, "threading"), MODULE);
	world_u64(&m->w, MODULE + layout.module_dict, GLOBALS);
	entries = put_dict(m, GLOBALS, 1, 2);
	put_entry(m, entries, 0, text(m, "_activ"), MODULES);
	put_entry(m, entries, 1, text(m, "_active"), ACTIVE);
}

static int look(struct memory *m, struct runtime_thread_name names[NR])
{
	const struct target_memory memory = { world_read, &m->w };

	for (uint32_t i = 0; i < NR; i++)
		names[i] = (struct runtime_thread_name){ .tid = 100 + i };
	return python_thread_names(&layout, &memory, HEAD, names, NR);
}

static void release(struct runtime_thread_name names[NR])
{
	for (int i = 0; i < NR; i++)
		free(names[i].name);
}

static void names_are_read(void **state)
{
	static const char *const given[] = { "logger", "Thread-7 (work)", "MainThread" };
	struct runtime_thread_name names[NR];
	struct memory *m = *state;

	put_process(m);
	put_threads(m, given);
	assert_int_equal(look(m, names), 0);
	assert_string_equal(names[0].name, "logger");
	assert_false(names[0].is_made_up);
	assert_string_equal(names[1].name, "Thread-7 (work)");
	assert_true(names[1].is_made_up);
	assert_true(names[2].is_found);
	assert_null(names[2].name);		/* the kernel's says more */
	release(names);
}

static void a_process_without_threads_has_none(void **state)
{
	struct runtime_thread_name names[NR];
	struct memory *m = *state;

	world_u64(&m->w, HEAD, INTERPRETER);
	assert_int_equal(look(m, names), 0);
	assert_false(names[0].is_found || names[1].is_found || names[2].is_found);
}

/* Each pointer leads astray in turn, and sizes are as large as can be; the look ends, and invents nothing. */
static void hostile_memory_is_harmless(void **state)
{
	static const char *const given[] = { "logger", "Thread-7 (work)", "third" };
	static const uint64_t lies[] = { 1, WORLD_BASE, UINT64_MAX - 8, INTERPRETER, ACTIVE, MODULES, UINT32_MAX };
	struct runtime_thread_name names[NR];
	struct memory *m = *state;
	struct python_world whole;

	put_process(m);
	put_threads(m, given);
	whole = m->w;
	for (uint64_t at = 0; at < WORLD_BYTES; at += 8) {
		uint64_t was;

		memcpy(&was, whole.bytes + at, sizeof(was));
		for (size_t i = 0; was && i < sizeof(lies) / sizeof(lies[0]); i++) {
			m->w = whole;
			world_u64(&m->w, WORLD_BASE + at, lies[i]);
			look(m, names);
			release(names);
		}
	}
}

static void interpreters_in_a_ring_end(void **state)
{
	struct runtime_thread_name names[NR];
	struct memory *m = *state;

	put_process(m);
	world_u64(&m->w, INTERPRETER + layout.interpreter_next, INTERPRETER);
	assert_int_equal(look(m, names), 0);
}

static void errors_are_told(void **state)
{
	static const char *const given[] = { "a", "b", "c" };
	struct runtime_thread_name names[NR];
	struct memory *m = *state;

	put_process(m);
	put_threads(m, given);
	m->w.fail_at = 1;
	m->w.error = -ETIMEDOUT;
	assert_int_equal(look(m, names), -ETIMEDOUT);
	release(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_without_threads_has_none, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_memory_is_harmless, setup, teardown),
		cmocka_unit_test_setup_teardown(interpreters_in_a_ring_end, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_are_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
