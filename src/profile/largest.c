/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/largest.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 64 };	/* numbers that are made to defeat the pivot are sorted instead */

static void swap(double *a, double *b)
{
	double x = *a;

	*a = *b;
	*b = x;
}

/* The median of three is a good pivot for numbers that are in order already. */
static double pivot_of(const double *v, size_t lo, size_t hi)
{
	double a = v[lo], b = v[lo + (hi - lo) / 2], c = v[hi - 1];

	if (a > b)
		swap(&a, &b);
	return c < a ? a : c < b ? c : b;
}

/*
 * Brings v[lo..hi) into the order: larger than the pivot, equal to it, smaller. Returns where the
 * equal ones begin, and sets where they end.
 */
static size_t part(double *v, size_t lo, size_t hi, size_t *end)
{
	double pivot = pivot_of(v, lo, hi);
	size_t i = lo;

	assert(lo < hi);
	while (i < hi) {
		if (v[i] > pivot)
			swap(&v[lo++], &v[i++]);
		else if (v[i] < pivot)
			swap(&v[i], &v[--hi]);
		else
			i++;
	}
	*end = hi;
	return lo;
}

static int largest_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* All of v[lo..hi) in order; returns where those begin that equal v[at]. */
static size_t sort_part(double *v, size_t lo, size_t hi, size_t at)
{
	qsort(v + lo, hi - lo, sizeof(*v), largest_first);
	while (at > lo && v[at - 1] == v[at])
		at--;
	return at;
}

void largest_init(struct largest *l, double *v, size_t nr, size_t keep)
{
	size_t lo = 0, hi = nr, first = 0, end = nr;
	unsigned rounds = 0;

	*l = (struct largest){ .least = keep ? -INFINITY : INFINITY, .nr_least = SIZE_MAX };
	if (keep >= nr || !keep)
		return;
	do {
		if (rounds++ == MOST_ROUNDS) {
			first = sort_part(v, lo, hi, keep - 1);
			break;
		}
		first = part(v, lo, hi, &end);
		if (keep <= first)
			hi = first;
		else if (keep > end)
			lo = end;
	} while (keep <= first || keep > end);
	l->least = v[first];
	assert(first < keep && keep < nr);
	l->nr_least = keep - first;
}

bool largest_has(struct largest *l, double x)
{
	if (x != l->least)
		return x > l->least;
	if (!l->nr_least)
		return false;
	l->nr_least--;
	return true;
}
