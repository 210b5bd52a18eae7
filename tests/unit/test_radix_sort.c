/* SPDX-License-Identifier: GPL-2.0-or-later */
/* radix_sort() beside the qsort() of libc, with a number of its place in each element, which shows whether equals moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/radix_sort.h"

struct item {
	uint64_t key;
	uint32_t place;
	char rest[7];
};

static uint64_t key_of(const void *element)
{
	return ((const struct item *)element)->key;
}

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static uint64_t random_number(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 11;
}

static void check(size_t nr, uint64_t base, uint64_t mask)
{
	struct item *v = calloc(nr + 1, sizeof(*v)), *expected = calloc(nr + 1, sizeof(*v));
	uint64_t state = nr;

	assert_true(v && expected);
	for (size_t i = 0; i < nr; i++) {
		v[i].key = base ^ (random_number(&state) & mask);
		v[i].place = (uint32_t)i;
		memset(v[i].rest, (int)i, sizeof(v[i].rest));
	}
	memcpy(expected, v, nr * sizeof(*v));
	qsort(expected, nr, sizeof(*v), by_key);
	assert_int_equal(radix_sort(v, nr, sizeof(*v), key_of), 0);
	assert_memory_equal(v, expected, (nr + 1) * sizeof(*v));
	free(v);
	free(expected);
}

static void test_like_qsort(void **state)
{
	static const uint64_t masks[] = { 0, 1, 0xff, 0x1ff, 0xff00ff, 0xffffffff, UINT64_MAX, 0xffull << 45 };
	static const size_t sizes[] = { 0, 1, 2, 3, 255, 256, 257, 20000 };

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			check(sizes[k], 0, masks[i]);
			check(sizes[k], 0xffffffff81000000, masks[i]);
		}
}

static void test_large_numbers_are_above_small_ones(void **state)
{
	struct item v[] = { { .key = UINT64_MAX }, { .key = 1ull << 63 }, { .key = 0 }, { .key = 1ull << 62 } };

	(void)state;
	assert_int_equal(radix_sort(v, 4, sizeof(*v), key_of), 0);
	assert_true(!v[0].key && v[1].key == 1ull << 62 && v[2].key == 1ull << 63 && v[3].key == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_qsort),
		cmocka_unit_test(test_large_numbers_are_above_small_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
