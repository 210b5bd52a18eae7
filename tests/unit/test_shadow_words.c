/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shadow frames between the frames of a stack that was unwound again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/capture/stacks/shadow_words.h"
#include "unwind/unwind_limits.h"

#define S(id) (UNWIND_SHADOW | (id))
#define R(address) (UNWIND_RETURN_ADDRESS | (address))
#define GUESS(address) (UNWIND_GUESSED | R(address))

static const struct {
	uint64_t old[6], found[6], want[8];
} cases[] = {
	{ { 1, R(2) }, { 1, R(2), R(3) }, { 1, R(2), R(3) } },
	{ { S(9), 1 }, { 1, R(2), R(3) }, { S(9), 1, R(2), R(3) } },
	{ { 1, S(9), R(2), S(8), R(3) }, { 1, R(2), R(3), R(4) }, { 1, S(9), R(2), S(8), R(3), R(4) } },
	/* The new flags count. */
	{ { 1, S(9), GUESS(2), S(8) }, { 1, R(2), R(3) }, { 1, S(9), R(2), S(8), R(3) } },
	/* From the first other frame on it is another stack. */
	{ { 1, S(9), GUESS(7), S(8) }, { 1, R(2), R(3) }, { 1, S(9), R(2), R(3) } },
	/* Fewer frames than before. */
	{ { 1, S(9), R(2), S(8), R(3) }, { 1 }, { 1, S(9) } },
	{ { S(9) }, { 0 }, { S(9) } },
	/* A function that returns: what it returns to is no interrupted instruction. */
	{ { 5, R(1), GUESS(2) }, { 1, R(2), R(3) }, { 5, R(1), R(2), R(3) } },
	{ { S(9), 5, R(1) }, { 1, R(2) }, { S(9), 5, R(1), R(2) } },
	{ { 5, 6 }, { 1, R(2) }, { 1, R(2) } },
};

static size_t length(const uint64_t *v, size_t max)
{
	size_t n = 0;

	while (n < max && v[n])
		n++;
	return n;
}

static void each_case(void **state)
{
	static uint64_t out[UNWIND_MAX_FRAMES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t nr = length(cases[i].want, 8);

		assert_int_equal(shadow_words_merge(cases[i].old, length(cases[i].old, 6),
						    cases[i].found, length(cases[i].found, 6), out),
				 nr);
		assert_memory_equal(out, cases[i].want, nr * sizeof(*out));
	}
}

static void words_before_the_interrupted_one(void **state)
{
	static const uint64_t plain[] = { 1, R(2) }, returned[] = { 5, R(1) };
	static const uint64_t both[] = { S(9), 5, R(1) }, runtime[] = { UNWIND_RUNTIME, 1 };

	(void)state;
	assert_int_equal(shadow_words_before(plain, 2, 1), 0);
	assert_int_equal(shadow_words_before(plain, 2, 7), 0);
	assert_int_equal(shadow_words_before(returned, 2, 1), 1);
	assert_int_equal(shadow_words_before(both, 3, 1), 2);
	assert_int_equal(shadow_words_before(both, 1, 1), 0);
	assert_int_equal(shadow_words_before(runtime, 2, 7), 0);
}

static void no_more_than_there_is_room_for(void **state)
{
	static uint64_t old[UNWIND_MAX_FRAMES], found[UNWIND_MAX_FRAMES];
	static uint64_t out[UNWIND_MAX_FRAMES + 1];

	(void)state;
	for (size_t i = 0; i < UNWIND_MAX_FRAMES; i++) {
		found[i] = R(i / 2 + 1);
		old[i] = i % 2 ? S(i) : R(i / 2 + 1);
	}
	for (size_t nr = UNWIND_MAX_FRAMES - 3; nr <= UNWIND_MAX_FRAMES; nr++) {
		for (size_t i = 0; i < nr; i++)
			found[i] = R(i + 1);
		out[UNWIND_MAX_FRAMES] = 77;
		assert_int_equal(shadow_words_merge(old, UNWIND_MAX_FRAMES, found, nr, out),
				 UNWIND_MAX_FRAMES);
		assert_int_equal(out[UNWIND_MAX_FRAMES], 77);
		assert_int_equal(out[UNWIND_MAX_FRAMES - 1], R(nr));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_case),
		cmocka_unit_test(words_before_the_interrupted_one),
		cmocka_unit_test(no_more_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
