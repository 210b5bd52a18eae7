/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user probably meant: the known word that is the fewest edits (insert, drop, change, swap
 * two neighbours) away from the word that was written. Case does not count.
 *
 *	struct nearest n = nearest_to("repotr");
 *	nearest_offer(&n, "report"); nearest_offer(&n, "record"); ...
 *	if (n.best) ... "Try: probee %s"
 */
#pragma once

struct nearest {
	const char *written;
	const char *best;	/* NULL: nothing is near enough to be worth naming */
	unsigned distance;	/* of best */
};

struct nearest nearest_to(const char *written);
void nearest_offer(struct nearest *n, const char *known);	/* known is borrowed */

/* Number of edits; words longer than 31 bytes are compared by their first 31. */
unsigned word_distance(const char *a, const char *b);
