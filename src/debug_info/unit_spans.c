/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A unit of C++ has some 20,000 spans, in the order of its entries. Comparing them, as qsort()
 * does, was a tenth of the time for its table. Their addresses differ in a few bytes only, so
 * three passes over 11 bits each sort them.
 */
#include "src/debug_info/unit_spans.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* Whether it is sorted already; *low: the smallest; *bits: in which the addresses differ. */
static bool look(const struct unit_span *v, size_t nr, uint64_t *low, uint64_t *bits)
{
	uint64_t high = 0;
	bool is_sorted = true;

	*low = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		*low = v[i].lo < *low ? v[i].lo : *low;
		high = v[i].lo > high ? v[i].lo : high;
		is_sorted = is_sorted && (!i || v[i].lo >= v[i - 1].lo);
	}
	*bits = is_sorted ? 0 : high - *low;
	return is_sorted;
}

/* One pass: by the digit at shift, without changing the order of equal ones. */
static void sort_digit(const struct unit_span *from, struct unit_span *to, size_t nr, uint64_t low,
		       unsigned shift)
{
	size_t at[DIGITS] = { 0 }, next = 0;

	for (size_t i = 0; i < nr; i++)
		at[((from[i].lo - low) >> shift) % DIGITS]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t n = at[d];

		at[d] = next;
		next += n;
	}
	for (size_t i = 0; i < nr; i++)
		to[at[((from[i].lo - low) >> shift) % DIGITS]++] = from[i];
}

int unit_spans_sort(struct unit_span **v, size_t *cap, size_t nr)
{
	struct unit_span *other, *swap;
	uint64_t low, bits;

	if (look(*v, nr, &low, &bits))
		return 0;
	other = malloc(nr * sizeof(*other));
	if (!other)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		sort_digit(*v, other, nr, low, shift);
		swap = *v;
		*v = other;
		other = swap;
		*cap = nr;
	}
	free(other);
	return 0;
}
