/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights of samples as text, each with its unit. Numbers are made without printf's floats, which
 * follow the locale. The result lies in buf, not always at its start.
 *
 *	unit		1234567		as text
 *	"ns"		nanoseconds	"1.2 ms"
 *	"bytes"		bytes		"1.2 MB"
 *	"count"		things		"1,234,567"; with a name "1,234,567 page-faults"
 *	"samples", ""	the same
 *	any other	such as cycles	"1.2 M cycles"
 *
 * At least three digits are shown: "99.9 ms", "100 ms", "1,234 s". Units and names are foreign
 * bytes; they come out as a terminal may see them (visible.h), cut to a length that fits.
 */
#pragma once

#include <stdint.h>

#define WEIGHT_TEXT_MAX 96

const char *count_text(uint64_t n, char buf[WEIGHT_TEXT_MAX]);	/* "1,234,567" */

/* A weight with its unit. */
const char *weight_text(uint64_t weight, const char *unit, char buf[WEIGHT_TEXT_MAX]);

/*
 * A weight with its unit, and with a name for the things counted if the unit does not name them.
 * name is a plural, such as an event's name; "1 page-fault" loses its s.
 */
const char *weight_text_of(uint64_t weight, const char *unit, const char *name,
			   char buf[WEIGHT_TEXT_MAX]);

/* a + b, but at most UINT64_MAX, because weights in a trace cannot be trusted. */
static inline uint64_t weight_sum(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* a * nr, likewise. */
static inline uint64_t weight_times(uint64_t a, uint64_t nr)
{
	uint64_t product;

	return __builtin_mul_overflow(a, nr, &product) ? UINT64_MAX : product;
}
