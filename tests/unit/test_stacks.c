/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/model/stacks.h"

static int setup(void **state)
{
	*state = stacks_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	stacks_free(*state);
	return 0;
}

static void test_frames_ascend_and_dedupe(void **state)
{
	struct stacks *st = *state;
	bool is_new;

	assert_int_equal(stacks_frames(st), 0);
	for (uint32_t i = 1; i <= 20000; i++) {
		struct stack_frame f = { .addr = i / 4, .binary = i % 4, .kind = 1, .flags = 2 };

		assert_int_equal(stacks_frame(st, &f, &is_new), i);
		assert_true(is_new);
	}
	for (uint32_t i = 1; i <= 20000; i += 7) {
		struct stack_frame f = { .addr = i / 4, .binary = i % 4, .kind = 1, .flags = 2 };

		assert_int_equal(stacks_frame(st, &f, &is_new), i);
		assert_false(is_new);
		assert_int_equal(stacks_frame_at(st, i)->addr, i / 4);
		assert_int_equal(stacks_frame_at(st, i)->binary, i % 4);
	}
	assert_int_equal(stacks_frames(st), 20000);
}

static void test_each_field_tells_frames_apart(void **state)
{
	const struct stack_frame frames[] = {
		{ 0x1000, 1, 0, 0 }, { 0x1001, 1, 0, 0 }, { 0x1000, 2, 0, 0 }, { 0x1000, 1, 1, 0 },
		{ 0x1000, 1, 0, 1 }, { 0x1000, 0, 0, 0 },
	};
	struct stacks *st = *state;
	bool is_new;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 6; i++) {
			assert_int_equal(stacks_frame(st, &frames[i], &is_new), i + 1);
			assert_int_equal(is_new, round == 0);
		}
	}
}

static void test_unknown_frame_is_empty(void **state)
{
	struct stacks *st = *state;

	assert_int_equal(stacks_frame_at(st, 0)->addr, 0);
	assert_int_equal(stacks_frame_at(st, 12345)->addr, 0);
}

static void test_common_beginnings_share_nodes(void **state)
{
	struct stacks *st = *state;
	uint32_t root, a, b;
	bool is_new;

	root = stacks_node(st, 0, 5, &is_new);
	assert_int_equal(root, 1);
	assert_true(is_new);
	a = stacks_node(st, root, 6, &is_new);
	assert_int_equal(a, 2);
	b = stacks_node(st, root, 7, &is_new);
	assert_int_equal(b, 3);
	assert_int_equal(stacks_node(st, 0, 5, &is_new), root);
	assert_false(is_new);
	assert_int_equal(stacks_node(st, root, 6, &is_new), a);
	/* The same frame in another place is another node: recursion, and the other way round. */
	assert_int_equal(stacks_node(st, a, 6, &is_new), 4);
	assert_int_equal(stacks_node(st, 0, 6, &is_new), 5);
	assert_int_equal(stacks_node(st, 5, 1, &is_new), 6);
	assert_int_equal(stacks_nodes(st), 6);
}

static struct stack_hash hash_of(uint64_t seed, const uint64_t *v, size_t nr)
{
	struct stack_hash h;

	stack_hash_init(&h, seed);
	stack_hash_add(&h, v, nr);
	return h;
}

static void test_hash_knows_everything(void **state)
{
	static const uint64_t a[] = { 1, 2, 3 }, swapped[] = { 2, 1, 3 }, zeros[] = { 1, 2, 3, 0 };
	struct stacks *st = *state;
	struct stack_hash h = hash_of(1, a, 3), other[] = {
		hash_of(2, a, 3), hash_of(1, swapped, 3), hash_of(1, zeros, 4),
		hash_of(1, a, 2), hash_of(1, a + 1, 2),
	};

	stacks_remember(st, &h, 42);
	h = hash_of(1, a, 3);
	assert_int_equal(stacks_cached(st, &h), 42);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_int_equal(stacks_cached(st, &other[i]), UINT32_MAX);
	/* Half a hash is not enough. */
	other[0] = h;
	other[0].b ^= 1;
	assert_int_equal(stacks_cached(st, &other[0]), UINT32_MAX);
}

static void test_empty_stack_is_an_answer(void **state)
{
	struct stack_hash h = hash_of(9, NULL, 0);

	assert_int_equal(stacks_cached(*state, &h), UINT32_MAX);
	stacks_remember(*state, &h, 0);
	assert_int_equal(stacks_cached(*state, &h), 0);
	stacks_remember(*state, &h, 7);
	assert_int_equal(stacks_cached(*state, &h), 7);
}

/* Never a wrong answer, however many there were; and the latest is always there. */
static void test_cache_forgets_but_never_lies(void **state)
{
	struct stacks *st = *state;
	unsigned kept = 0;

	for (uint32_t i = 1; i <= 200000; i++) {
		struct stack_hash h = hash_of(3, (uint64_t[]){ i, i * 3ull }, 2);

		assert_int_equal(stacks_cached(st, &h), UINT32_MAX);
		stacks_remember(st, &h, i);
		assert_int_equal(stacks_cached(st, &h), i);
	}
	for (uint32_t i = 1; i <= 200000; i++) {
		struct stack_hash h = hash_of(3, (uint64_t[]){ i, i * 3ull }, 2);
		uint32_t node = stacks_cached(st, &h);

		assert_true(node == i || node == UINT32_MAX);
		kept += node == i;
	}
	assert_in_range(kept, 1, 65536);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_frames_ascend_and_dedupe),     T(test_each_field_tells_frames_apart),
		T(test_unknown_frame_is_empty),	      T(test_common_beginnings_share_nodes),
		T(test_hash_knows_everything),	      T(test_empty_stack_is_an_answer),
		T(test_cache_forgets_but_never_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
