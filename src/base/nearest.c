/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/nearest.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX 31

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int lower(const char *s, size_t i)
{
	return tolower((unsigned char)s[i]);
}

unsigned word_distance(const char *a, const char *b)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];
	size_t na = strnlen(a, WORD_MAX), nb = strnlen(b, WORD_MAX);

	for (size_t i = 0; i <= na; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		for (size_t j = 1; j <= nb; j++) {
			unsigned change = lower(a, i - 1) != lower(b, j - 1);

			d[i][j] = least(d[i - 1][j - 1] + change,
					least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && lower(a, i - 1) == lower(b, j - 2) &&
			    lower(a, i - 2) == lower(b, j - 1))
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[na][nb];
}

struct nearest nearest_to(const char *written)
{
	return (struct nearest){ .written = written };
}

void nearest_offer(struct nearest *n, const char *known)
{
	unsigned distance = word_distance(n->written, known);
	unsigned most = strlen(n->written) > 6 ? 2 : 1;

	/* A slip of the finger; with more it is another word that only looks alike. */
	if (distance > most || (n->best && distance >= n->distance))
		return;
	n->best = known;
	n->distance = distance;
}
