/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts two call trees into one. Functions are matched across builds: by name and the last part of
 * their source file's path, and neither by binary nor by address. What differs between two builds
 * and two runs although nothing was changed is left out of the comparison:
 *
 *	in a name			compared as
 *	copy.constprop.3		copy.constprop		a number that the compiler chose
 *	[libfoo.so.1.2+0x1a40]		[libfoo.so]		a function without a name
 *	java (1234)			java			a process or thread, by its label
 *
 * A node of the tree that comes out has the name, binary, file and line of the second tree's node,
 * or of the first one's if the second has none; labels of processes and functions without a name
 * are shown as they were compared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_ratio {
	uint64_t num, den;		/* weights of the first tree times num / den; den > 0 */
};

struct profile;

struct diff_merged {
	struct profile *p;		/* with .deltas, of which only weights are filled */
	uint32_t *place[2];		/* by node of a side: node of p */
	uint32_t *key;			/* by node of p: name that was compared */
};

/* Facts and names of sides are not merged. 0 or -ENOMEM. In any case diff_merged_release(). */
int diff_merge(struct profile *const sides[2], const struct diff_ratio *scale,
	       struct diff_merged *m);
void diff_merged_release(struct diff_merged *m);	/* m->p, too, unless it is NULL */

/* Writes the name as it is compared to dst, which has room for len; returns its length. */
size_t diff_name(char *dst, const char *s, size_t len, bool is_label);
