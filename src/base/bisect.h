/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One binary search for every sorted table.
 *
 *	size_t after = bisect(nr, i, v[i].start <= addr);
 *
 * counts the elements 0, 1, ... for which the condition holds. The condition is an expression of
 * the index i; it must hold for the first elements and for none behind them, which is what sorted
 * means. The answer is therefore also the index of the first element for which it does not hold, nr
 * if there is none. A macro, so that the comparison is compiled into the loop.
 *
 *	first element at or behind key:	i = bisect(nr, i, v[i] < key), if i < nr
 *	last element at or before key:	i = bisect(nr, i, v[i] <= key), then v[i - 1] if i > 0
 *	the element that equals key:	i = bisect(nr, i, v[i] < key), if i < nr && v[i] == key
 *
 * compare_u32() and compare_u64() order plain numbers for qsort() and bsearch(); COMPARE() gives
 * such an answer for two values of any arithmetic type.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define bisect(nr, i, holds) \
	({ \
		size_t bisect_lo = 0, bisect_hi = (nr); \
\
		while (bisect_lo < bisect_hi) { \
			size_t i = bisect_lo + (bisect_hi - bisect_lo) / 2; \
\
			if (holds) \
				bisect_lo = i + 1; \
			else \
				bisect_hi = i; \
		} \
		bisect_lo; \
	})

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static inline int compare_u32(const void *a, const void *b)
{
	return COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int compare_u64(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}
