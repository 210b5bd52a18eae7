/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/collectors/probe_sums.h"

#define ID (WIRE_SUM_ID | 77)

/* A record with two user frames and two of the kernel, and behind them perhaps an id. */
struct record {
	struct wire_sample head;
	uint64_t frames[5];
};

static struct record record(bool has_id)
{
	return (struct record){ .head = { .tgid = 7, .tid = 8, .nr_user = 2,
					  .nr_kernel = has_id ? 3 : 2, .weight = 1, .time_ns = 9,
					  .event = 2 },
				.frames = { 1, 2, 0xffffffff81000001, 0xffffffff81000002, ID } };
}

static size_t bytes(const struct record *r)
{
	return sizeof(r->head) + 8 * (size_t)(r->head.nr_user + r->head.nr_kernel);
}

static int setup(void **state)
{
	return probe_sums_new(-1, (struct probe_sums **)state);
}

static int teardown(void **state)
{
	probe_sums_free(*state);
	return 0;
}

static void test_without_an_id_nothing_changes(void **state)
{
	struct record r = record(false);
	struct wire_stack s, before;

	assert_true(wire_decode(&r, bytes(&r), &s) > 0);
	before = s;
	assert_int_equal(probe_sums_keep(*state, &r, bytes(&r), &s), 0);
	assert_memory_equal(&s, &before, sizeof(s));
}

static void test_the_id_is_no_frame(void **state)
{
	struct record r = record(true);
	struct wire_stack s;

	assert_true(wire_decode(&r, bytes(&r), &s) > 0);
	assert_int_equal(probe_sums_keep(*state, &r, bytes(&r), &s), 0);
	assert_int_equal(s.head->nr_kernel, 2);
	assert_int_equal(s.head->tid, 8);
	assert_int_equal(s.user[1], 2);
	assert_int_equal(s.kernel[1], 0xffffffff81000002);
}

/* The programs do not send that; a stack must not be left half decoded. */
static void test_memory_with_an_id_is_a_bad_record(void **state)
{
	struct wire_dump *d = calloc(1, sizeof(*d) + UNWIND_MEMORY_PAGE);
	struct record r = record(true);
	struct wire_stack s;
	size_t len = sizeof(*d) + UNWIND_MEMORY_PAGE;

	assert_non_null(d);
	d->head = r.head;
	d->head.flags = WIRE_DUMP;
	memcpy(d->frames, r.frames, sizeof(r.frames));
	d->bytes = UNWIND_MEMORY_PAGE;
	assert_true(wire_decode(d, len, &s) > 0);
	assert_non_null(s.dump);
	assert_int_equal(probe_sums_keep(*state, d, len, &s), -EBADMSG);
	free(d);
}

static int never(void *ctx, const struct wire_stack *stack)
{
	(void)ctx;
	(void)stack;
	return -1;
}

static void test_no_sums(void **state)
{
	assert_int_equal(probe_sums_take(*state, never, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_an_id_nothing_changes),
		cmocka_unit_test(test_the_id_is_no_frame),
		cmocka_unit_test(test_memory_with_an_id_is_a_bad_record),
		cmocka_unit_test(test_no_sums),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
