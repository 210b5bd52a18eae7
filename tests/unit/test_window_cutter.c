/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream cut into windows, whatever the portions are in which it comes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/agent/window_cutter.h"
#include "tests/unit/made_windows.h"

static char told[256];			/* "[" a window begins, "I" an IDENT, "c" a chunk */
static uint8_t again[4096];		/* the pieces, put together */
static size_t nr_again;

static void tell(const char *what)
{
	strncat(told, what, sizeof(told) - strlen(told) - 1);
}

static int begin(void *ctx)
{
	(void)ctx;
	tell("[");
	return 0;
}

static int piece(void *ctx, const uint8_t *bytes, size_t len, const struct signpost *sp)
{
	(void)ctx;
	tell(sp ? "c" : "I");
	assert_true(nr_again + len <= sizeof(again));
	memcpy(again + nr_again, bytes, len);
	nr_again += len;
	return 0;
}

static struct window_cutter cutter(void)
{
	told[0] = 0;
	nr_again = 0;
	return (struct window_cutter){ .begin = begin, .piece = piece };
}

/* Two windows, of two chunks and of one. */
static size_t make(uint8_t *out)
{
	size_t n = made_ident(out, 1);

	n += made_chunk(out + n, 1, 0);
	n += made_chunk(out + n, 1, 1);
	n += made_ident(out + n, 2);
	return n + made_chunk(out + n, 2, 0);
}

static void test_portions_do_not_matter(void **state)
{
	uint8_t trace[1024];
	size_t len = make(trace);

	(void)state;
	for (size_t portion = 1; portion <= len; portion++) {
		struct window_cutter c = cutter();

		for (size_t at = 0; at < len; at += portion)
			assert_int_equal(window_cutter_feed(&c, trace + at,
							    at + portion < len ? portion
									       : len - at), 0);
		assert_string_equal(told, "[Icc[Ic");
		assert_int_equal(nr_again, len);
		assert_memory_equal(again, trace, len);
		assert_true(window_cutter_is_whole(&c));
		assert_int_equal(c.whole, len);
		window_cutter_release(&c);
	}
}

/* Cut anywhere: what came out is whole pieces. */
static void test_a_cut_stream(void **state)
{
	static const size_t ends[] = { 0, IDENT_SIZE, IDENT_SIZE + MADE_CHUNK,
				       IDENT_SIZE + 2 * MADE_CHUNK, 2 * IDENT_SIZE + 2 * MADE_CHUNK,
				       2 * IDENT_SIZE + 3 * MADE_CHUNK };
	uint8_t trace[1024];
	size_t len = make(trace);

	(void)state;
	for (size_t cut = 0; cut <= len; cut++) {
		struct window_cutter c = cutter();
		size_t whole = 0;

		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			whole = ends[i] <= cut ? ends[i] : whole;
		assert_int_equal(window_cutter_feed(&c, trace, cut), 0);
		assert_int_equal(c.whole, whole);
		assert_int_equal(nr_again, whole);
		assert_int_equal(window_cutter_is_whole(&c), whole == cut);
		window_cutter_release(&c);
	}
}

/* One byte of a head that is wrong ends it, and nothing behind it comes out. */
static void test_damage(void **state)
{
	uint8_t trace[1024];

	(void)state;
	for (size_t i = 0; i < IDENT_SIZE + SIGNPOST_SIZE; i++) {
		struct window_cutter c = cutter();
		size_t len = make(trace);

		trace[i] ^= 0x40;
		assert_int_equal(window_cutter_feed(&c, trace, len), -EBADMSG);
		assert_int_equal(c.whole, i < IDENT_SIZE ? 0 : IDENT_SIZE);
		window_cutter_release(&c);
	}
}

static void test_no_trace(void **state)
{
	static const char *const texts[] = { "hello, world", "\x28\xb5\x2f\xfd" };
	uint8_t chunk[MADE_CHUNK];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct window_cutter c = cutter();

		assert_int_equal(window_cutter_feed(&c, (const uint8_t *)texts[i],
						    strlen(texts[i])), -EBADMSG);
		window_cutter_release(&c);
	}
	/* A chunk before any IDENT. */
	made_chunk(chunk, 1, 0);
	for (int i = 0; i < 1; i++) {
		struct window_cutter c = cutter();

		assert_int_equal(window_cutter_feed(&c, chunk, sizeof(chunk)), -EBADMSG);
		window_cutter_release(&c);
	}
}

/* A length that no chunk may have is not waited for. */
static void test_a_huge_chunk(void **state)
{
	struct signpost sp = { .segment = 1, .data_size = MAX_DATA_SIZE + 1 };
	uint8_t trace[IDENT_SIZE + SIGNPOST_SIZE];
	struct window_cutter c = cutter();

	(void)state;
	made_ident(trace, 1);
	signpost_encode(trace + IDENT_SIZE, &sp);
	assert_int_equal(window_cutter_feed(&c, trace, sizeof(trace)), -EBADMSG);
	window_cutter_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_portions_do_not_matter),
		cmocka_unit_test(test_a_cut_stream),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_no_trace),
		cmocka_unit_test(test_a_huge_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
