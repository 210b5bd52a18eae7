/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as decimal digits, for writers of so many that printf would take most of their time. */
#pragma once

#include <stdint.h>

#define DECIMAL_MAX 20			/* digits of UINT64_MAX */

/* Writes the digits so that they end before end. Returns where they begin. */
static inline char *decimal_before(char *end, uint64_t v)
{
	do
		*--end = (char)('0' + v % 10);
	while (v /= 10);
	return end;
}

/* Writes exactly nr digits, the lowest ones, with zeros in front. */
static inline char *decimal_padded(char *end, uint64_t v, unsigned nr)
{
	for (; nr; nr--, v /= 10)
		*--end = (char)('0' + v % 10);
	return end;
}
