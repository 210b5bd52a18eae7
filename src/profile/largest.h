/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many numbers are the largest, in time that is in proportion to how many there are.
 *
 *	largest_init(&l, v, nr, keep)	v is a copy of the numbers and comes into another order
 *	largest_has(&l, x)		for each of them once: true for keep of them
 *
 * Where numbers are equal and not all of them are among the largest, those count that are asked for
 * first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct largest {
	double least;			/* the smallest of them */
	size_t nr_least;		/* how many as small as this are still among them */
};

void largest_init(struct largest *l, double *v, size_t nr, size_t keep);
bool largest_has(struct largest *l, double x);
