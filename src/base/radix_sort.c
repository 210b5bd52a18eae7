/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/radix_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 8
#define DIGITS (1u << DIGIT_BITS)
#define KEY_BITS 64

/* The bits in which not all numbers are equal. */
static uint64_t bits_that_differ(const char *v, size_t nr, size_t size, radix_key_fn key)
{
	uint64_t first = nr ? key(v) : 0, bits = 0;

	for (size_t i = 1; i < nr; i++)
		bits |= key(v + i * size) ^ first;
	return bits;
}

static unsigned digit_of(const void *element, unsigned shift, radix_key_fn key)
{
	return (unsigned)(key(element) >> shift) & (DIGITS - 1);
}

/* Moves all elements from one array into the other, in the order of one digit. */
static void pass(const char *from, char *to, size_t nr, size_t size, unsigned shift,
		 radix_key_fn key)
{
	size_t next[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < nr; i++)
		next[digit_of(from + i * size, shift, key)]++;
	for (unsigned d = 0; d < DIGITS; d++) {
		size_t count = next[d];

		next[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		memcpy(to + next[digit_of(from + i * size, shift, key)]++ * size, from + i * size,
		       size);
}

int radix_sort(void *v, size_t nr, size_t size, radix_key_fn key)
{
	uint64_t bits = bits_that_differ(v, nr, size, key);
	char *from = v, *to, *other;

	if (!bits)
		return 0;
	other = to = calloc(nr, size);
	if (!other)
		return -ENOMEM;
	for (unsigned shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
		char *swap = from;

		if (!(bits >> shift & (DIGITS - 1)))
			continue;
		pass(from, to, nr, size, shift, key);
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, nr * size);
	free(other);
	return 0;
}
