/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of positions as ruby_lines.h describes them, made here from lists of positions. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/runtimes/ruby/ruby_lines.h"

#define MAX_BYTES 4096

/* Writes the set of nr positions (ascending) for code of that many words. */
static size_t make(uint8_t *set, uint32_t words, const uint32_t *positions, uint32_t nr)
{
	const size_t first = (words < 54 ? words + 8 : 54) / 9, blocks = words < 54 ? 0 : (words - 54 + 511) / 512;

	memset(set, 0, MAX_BYTES);
	for (uint32_t at = 0; at < first * 9; at++) {
		uint64_t word, rank = 0;

		for (uint32_t i = 0; i < nr; i++)
			rank += positions[i] <= at;
		memcpy(&word, set + at / 9 * 8, 8);
		word |= rank << at % 9 * 7;
		memcpy(set + at / 9 * 8, &word, 8);
	}
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t at = positions[i] - 54;

		if (positions[i] >= 54)
			set[first * 8 + at / 512 * 80 + 16 + at % 512 / 8] |= (uint8_t)(1 << at % 8);
	}
	return first * 8 + blocks * 80;
}

static void same(uint32_t words, const uint32_t *positions, uint32_t nr)
{
	uint8_t set[MAX_BYTES];
	uint32_t out[64];
	const size_t bytes = make(set, words, positions, nr);

	assert_int_equal(ruby_positions_bytes(words), bytes);
	assert_int_equal(ruby_positions(set, bytes, words, out, 64), nr);
	assert_memory_equal(out, positions, nr * sizeof(*out));
	/* One entry too few, and a set that ends too early. */
	assert_int_equal(ruby_positions(set, bytes, words, out, nr - 1), -EBADMSG);
	assert_int_equal(ruby_positions(set, bytes - 1, words, out, 64), -EBADMSG);
}

static void all_sizes(void **state)
{
	static const uint32_t p[] = { 0, 2, 8, 9, 17, 18, 52, 53, 54, 55, 117, 118, 565, 566, 567, 1078, 1500 };

	(void)state;
	same(1, p, 1);
	same(9, p, 3);
	same(10, p, 4);
	same(53, p, 7);
	same(54, p, 8);
	same(55, p, 9);
	same(566, p, 13);
	same(567, p, 14);
	same(1501, p, 17);
}

static void numbers_that_jump(void **state)
{
	static const uint32_t p[] = { 0, 3 };
	uint8_t set[MAX_BYTES];
	uint32_t out[64];
	const size_t bytes = make(set, 20, p, 2);

	(void)state;
	set[1] ^= 0x40;		/* of position 2: 3 entries, and before it and behind it 1 and 2 */
	assert_int_equal(ruby_positions(set, bytes, 20, out, 64), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sizes),
		cmocka_unit_test(numbers_that_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
