/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kept memory: what is read through it is what is there, in how many reads, and where only some of it can be read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/runtimes/cached_memory.h"

#define BASE 0x10000000ull
#define BYTES (1u << 20)
#define HOLE (BASE + 0x43000)		/* a page that cannot be read */
#define PAGE 4096u

struct made {
	uint8_t bytes[BYTES];
	unsigned reads;
};

static int read_made(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct made *m = ctx;

	m->reads++;
	if (addr < BASE || addr + len > BASE + BYTES || (addr < HOLE + PAGE && addr + len > HOLE))
		return -EFAULT;
	memcpy(buf, m->bytes + (addr - BASE), len);
	return 0;
}

static struct made *make(void)
{
	struct made *m = test_calloc(1, sizeof(*m));

	for (size_t i = 0; i < BYTES; i++)
		m->bytes[i] = (uint8_t)(i * 7 + i / 251);
	return m;
}

/* Each address by its own read of a few bytes, many of them across borders. false: an answer is wrong. */
static bool is_right(const struct target_memory *view, const struct made *m)
{
	for (uint64_t at = BASE; at + 100 <= BASE + BYTES; at += 61) {
		const bool is_there = at + 100 <= HOLE || at >= HOLE + PAGE;
		uint8_t v[100];
		int err = target_read(view, at, v, sizeof(v));

		if (err != (is_there ? 0 : -EFAULT) || (!err && memcmp(v, m->bytes + (at - BASE), sizeof(v))))
			return false;
	}
	return true;
}

static void test_narrow(void **state)
{
	struct made *m = make();
	const struct target_memory below = { read_made, m };
	struct cached_memory *c = cached_memory_new(&below);

	(void)state;
	assert_non_null(c);
	assert_true(is_right(cached_memory_view(c), m));
	cached_memory_free(c);
	test_free(m);
}

/* 16 pieces, of which one has a hole: that is read in pages. */
static void test_wide(void **state)
{
	struct made *m = make();
	const struct target_memory below = { read_made, m };
	struct cached_memory *c = cached_memory_new_wide(&below);
	uint8_t v[8];

	(void)state;
	assert_non_null(c);
	assert_int_equal(target_read(cached_memory_view(c), BASE + 0x20010, v, sizeof(v)), 0);
	assert_int_equal(target_read(cached_memory_view(c), BASE + 0x2fff8, v, sizeof(v)), 0);
	assert_int_equal(m->reads, 1);
	assert_true(is_right(cached_memory_view(c), m));
	assert_true(is_right(cached_memory_view(c), m));
	cached_memory_free(c);
	test_free(m);
}

/* What was written since is not seen by one cache, and is by the next. */
static void test_is_for_one_answer(void **state)
{
	struct made *m = make();
	const struct target_memory below = { read_made, m };
	struct cached_memory *c = cached_memory_new_wide(&below);
	uint8_t before, now;

	(void)state;
	assert_int_equal(target_read(cached_memory_view(c), BASE, &before, 1), 0);
	m->bytes[0] ^= 1;
	assert_int_equal(target_read(cached_memory_view(c), BASE, &now, 1), 0);
	assert_int_equal(now, before);
	cached_memory_free(c);
	c = cached_memory_new_wide(&below);
	assert_int_equal(target_read(cached_memory_view(c), BASE, &now, 1), 0);
	assert_int_equal(now, before ^ 1);
	cached_memory_free(c);
	cached_memory_free(NULL);
	test_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_is_for_one_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
