/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/hash_index.h"

#define NR 20000

struct words {
	uint64_t v[NR];
	uint64_t wanted;
};

static bool same(const void *ctx, uint32_t id)
{
	const struct words *w = ctx;

	return w->v[id] == w->wanted;
}

static bool same_id(const void *ctx, uint32_t id)
{
	return id == *(const uint32_t *)ctx;
}

static void test_find_in_empty(void **state)
{
	struct hash_index ix = { 0 };
	uint32_t id = 0;

	(void)state;
	assert_int_equal(ix_find(&ix, 1, same_id, &id), IX_NONE);
	ix_remove(&ix, 1, 0);
	ix_release(&ix);
}

static void test_every_entry_is_found(void **state)
{
	struct words *w = calloc(1, sizeof(*w));
	struct hash_index ix;

	(void)state;
	ix_init(&ix);
	for (uint32_t i = 0; i < NR; i++) {
		w->v[i] = w->wanted = i * 7919ull;
		assert_int_equal(ix_find(&ix, hash_u64(0, w->wanted), same, w), IX_NONE);
		assert_int_equal(ix_add(&ix, hash_u64(0, w->wanted), i), 0);
	}
	for (uint32_t i = 0; i < NR; i++) {
		w->wanted = i * 7919ull;
		assert_int_equal(ix_find(&ix, hash_u64(0, w->wanted), same, w), i);
	}
	ix_release(&ix);
	free(w);
}

static void test_equal_hashes(void **state)
{
	struct hash_index ix = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(ix_add(&ix, 42, i), 0);
	for (uint32_t i = 0; i < 200; i += 2)
		ix_remove(&ix, 42, i);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(ix_find(&ix, 42, same_id, &i), i % 2 ? i : IX_NONE);
	ix_release(&ix);
}

/* A table whose entries come and go must not grow with how many there ever were. */
static void test_churn_needs_no_more_room(void **state)
{
	struct hash_index ix = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t id = i % 1000;

		assert_int_equal(ix_add(&ix, hash_u64(0, i), id), 0);
		if (i >= 10)
			ix_remove(&ix, hash_u64(0, i - 10), (i - 10) % 1000);
	}
	assert_in_range(ix.mask, 1, 255);
	ix_release(&ix);
}

static uint64_t mean_displacement(const struct hash_index *ix)
{
	uint64_t sum = 0, nr = 0;

	for (uint32_t i = 0; i <= ix->mask; i++) {
		if (ix->slots[i].id == IX_NONE)
			continue;
		sum += (i - ix->slots[i].hash) & ix->mask;
		nr++;
	}
	return sum / nr;
}

/* Keys that differ in a few bits only, wherever these are, must not crowd into a few slots. */
static void test_similar_keys_spread(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift < 48; shift++) {
		struct hash_index ix = { 0 };

		for (uint32_t i = 0; i < 10000; i++)
			assert_int_equal(ix_add(&ix, hash_u64(0, (uint64_t)i << shift), i), 0);
		assert_in_range(mean_displacement(&ix), 0, 4);
		ix_release(&ix);
	}
}

static void test_similar_names_spread(void **state)
{
	struct hash_index ix = { 0 };
	char name[64];

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		int n = snprintf(name, sizeof(name), "function_%u", i);

		assert_int_equal(ix_add(&ix, hash_bytes(0, name, (size_t)n), i), 0);
	}
	assert_in_range(mean_displacement(&ix), 0, 4);
	ix_release(&ix);
}

static void test_hash_bytes(void **state)
{
	static const char text[] = "the quick brown fox";

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		char copy[sizeof(text) + 1];

		memcpy(copy + 1, text, sizeof(text));	/* alignment must not matter */
		assert_int_equal(hash_bytes(1, text, len), hash_bytes(1, copy + 1, len));
		assert_int_not_equal(hash_bytes(1, text, len), hash_bytes(2, text, len));
		assert_int_not_equal(hash_bytes(1, text, len), hash_bytes(1, text, len + 1));
	}
	assert_int_not_equal(hash_bytes(0, "\0", 1), hash_bytes(0, "\0\0", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_in_empty),
		cmocka_unit_test(test_every_entry_is_found),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_churn_needs_no_more_room),
		cmocka_unit_test(test_similar_keys_spread),
		cmocka_unit_test(test_similar_names_spread),
		cmocka_unit_test(test_hash_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
