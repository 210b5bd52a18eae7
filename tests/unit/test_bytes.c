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

#include "src/base/bytes.h"

static void test_fixed(void **state)
{
	static const uint8_t raw[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct byte_reader r = br_make(raw, sizeof(raw));

	(void)state;
	assert_int_equal(br_u8(&r), 1);
	assert_int_equal(br_u16(&r), 0x0302);
	assert_int_equal(br_u32(&r), 0x07060504);
	assert_int_equal(br_u64(&r), 0x0f0e0d0c0b0a0908ull);
	assert_int_equal(br_left(&r), 0);
	assert_false(r.bad);
}

static void test_reading_past_the_end(void **state)
{
	static const uint8_t raw[] = { 1, 2, 3 };
	struct byte_reader r = br_make(raw, sizeof(raw));

	(void)state;
	assert_int_equal(br_u32(&r), 0);
	assert_true(r.bad);
	assert_int_equal(br_u8(&r), 0);		/* bad stays bad, although bytes were left */
	r = br_make(raw, sizeof(raw));
	assert_null(br_bytes(&r, UINT64_MAX));
	assert_true(r.bad);
	r = br_make(NULL, 0);
	assert_int_equal(br_uv(&r), 0);
	assert_true(r.bad);
}

static void test_sub_reader(void **state)
{
	static const uint8_t raw[] = { 1, 2, 3, 4 };
	struct byte_reader r = br_make(raw, sizeof(raw)), sub = br_sub(&r, 2);

	(void)state;
	assert_int_equal(br_u16(&sub), 0x0201);
	br_u8(&sub);
	assert_true(sub.bad);
	assert_false(r.bad);
	assert_int_equal(br_u8(&r), 3);
	sub = br_sub(&r, 2);
	assert_true(sub.bad && r.bad);
}

static void test_varints_return(void **state)
{
	static const uint64_t values[] = {
		0, 1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 62, 1ull << 63, UINT64_MAX,
	};
	struct byte_buf b = { 0 };
	struct byte_reader r;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		bb_uv(&b, values[i]);
		bb_sv(&b, (int64_t)values[i]);
		bb_sv(&b, -(int64_t)(values[i] >> 1));
	}
	r = br_make(b.v, b.nr);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_int_equal(br_uv(&r), values[i]);
		assert_int_equal(br_sv(&r), (int64_t)values[i]);
		assert_int_equal(br_sv(&r), -(int64_t)(values[i] >> 1));
	}
	assert_false(r.bad || b.bad);
	assert_int_equal(br_left(&r), 0);
	bb_release(&b);
}

static void test_varint_bytes(void **state)
{
	static const uint8_t want[] = { 0xe5, 0x8e, 0x26, 0x7f, 0x01 };
	struct byte_buf b = { 0 };

	(void)state;
	bb_uv(&b, 624485);
	bb_sv(&b, -64);
	bb_sv(&b, -1);
	assert_int_equal(b.nr, sizeof(want));
	assert_memory_equal(b.v, want, sizeof(want));
	bb_release(&b);
}

static void test_bad_varints(void **state)
{
	static const uint8_t bad[][11] = {
		{ 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01 },	/* too long */
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 },		/* 65 bits */
	};
	static const uint8_t cut[] = { 0x80, 0x80 };
	struct byte_reader r;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r = br_make(bad[i], sizeof(bad[i]));
		assert_int_equal(br_uv(&r), 0);
		assert_true(r.bad);
	}
	r = br_make(cut, sizeof(cut));
	assert_int_equal(br_uv(&r), 0);
	assert_true(r.bad);
}

static void test_buffer_grows(void **state)
{
	struct byte_buf b = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		bb_u32(&b, i);
		bb_bytes(&b, "xyz", 3);
	}
	bb_bytes(&b, NULL, 0);
	bb_u8(&b, 1);
	bb_u16(&b, 0x0302);
	bb_u64(&b, 5);
	assert_false(b.bad);
	assert_int_equal(b.nr, 10000 * 7 + 11);
	assert_memory_equal(b.v + 7 * 258, "\x02\x01\0\0xyz", 7);
	bb_release(&b);
	assert_null(b.v);
}

static void test_buffer_out_of_memory(void **state)
{
	struct byte_buf b = { 0 };

	(void)state;
	bb_u8(&b, 1);
	b.bad = true;				/* as after a failed realloc() */
	assert_null(bb_room(&b, 100000));
	bb_u64(&b, 1);				/* fits into what is there: harmless, and bad stays */
	assert_true(b.bad);
	bb_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_reading_past_the_end),
		cmocka_unit_test(test_sub_reader),
		cmocka_unit_test(test_varints_return),
		cmocka_unit_test(test_varint_bytes),
		cmocka_unit_test(test_bad_varints),
		cmocka_unit_test(test_buffer_grows),
		cmocka_unit_test(test_buffer_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
