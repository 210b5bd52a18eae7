/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks under ids: whole, once or for ever, and within their room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/stacks/stack_ids.h"

static struct stack_ids *new_ids(void)
{
	struct stack_ids *s = NULL;

	assert_int_equal(stack_ids_new(&s), 0);
	return s;
}

/* A record of len bytes, all with the value of its id. */
static void put(struct stack_ids *s, uint64_t id, size_t len)
{
	uint8_t *record = malloc(len);

	assert_non_null(record);
	memset(record, (int)(id & 0xff), len);
	assert_int_equal(stack_ids_put(s, id, record, len), 0);
	free(record);
}

static void expect(struct stack_ids *s, uint64_t id, size_t len)
{
	size_t got = 0;
	const uint8_t *record = stack_ids_find(s, id, &got);

	assert_non_null(record);
	assert_int_equal(got, len);
	assert_int_equal(record[0], id & 0xff);
	assert_int_equal(record[len - 1], id & 0xff);
}

static void expect_none(struct stack_ids *s, uint64_t id)
{
	size_t len;

	assert_null(stack_ids_find(s, id, &len));
}

static void shared_ones_stay(void **state)
{
	struct stack_ids *s = new_ids();

	(void)state;
	for (uint64_t id = 1; id <= 5000; id++)
		put(s, id * 0x9e3779b97f4aull, 8 + id % 100);
	for (int round = 0; round < 3; round++)
		for (uint64_t id = 5000; id; id--)
			expect(s, id * 0x9e3779b97f4aull, 8 + id % 100);
	expect_none(s, 7);
	stack_ids_free(s);
}

/* Two CPUs may hand out the same stack: the first one stays, and no memory is lost. */
static void twice_is_once(void **state)
{
	struct stack_ids *s = new_ids();

	(void)state;
	put(s, 77, 24);
	put(s, 77, 24);
	assert_int_equal(stack_ids_bytes(s), 24);
	expect(s, 77, 24);
	stack_ids_free(s);
}

static void single_ones_go(void **state)
{
	struct stack_ids *s = new_ids();

	(void)state;
	/* They are asked for in another order than they came in. */
	for (uint64_t id = 0; id < 3000; id++)
		put(s, STACK_IDS_SINGLE | id, 64);
	for (uint64_t id = 0; id < 3000; id++) {
		uint64_t other = id * 1237 % 3000;

		expect(s, STACK_IDS_SINGLE | other, 64);
		expect_none(s, STACK_IDS_SINGLE | other);
	}
	assert_int_equal(stack_ids_bytes(s), 0);
	stack_ids_free(s);
}

/* Those that are never asked for take 16 MiB at most, and the oldest go first. */
static void forgotten_ones_are_thrown_out(void **state)
{
	struct stack_ids *s = new_ids();
	const size_t len = 16384;

	(void)state;
	put(s, 5, 100);
	for (uint64_t id = 0; id < 3000; id++)
		put(s, STACK_IDS_SINGLE | id, len);
	assert_true(stack_ids_bytes(s) <= (16u << 20) + 100);
	expect_none(s, STACK_IDS_SINGLE | 0);
	expect_none(s, STACK_IDS_SINGLE | (3000 - 1025));
	expect(s, STACK_IDS_SINGLE | (3000 - 1024), len);
	expect(s, STACK_IDS_SINGLE | 2999, len);
	expect(s, 5, 100);
	stack_ids_free(s);
	stack_ids_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_ones_stay),
		cmocka_unit_test(twice_is_once),
		cmocka_unit_test(single_ones_go),
		cmocka_unit_test(forgotten_ones_are_thrown_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
