/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that have another name in the second recording: app and app-v2, app and app.new.
 *
 * Call trees begin with the names of programs, or of threads. Where none of these is on both sides,
 * all that they call would be gone on one side and new on the other, though it is the same program.
 * Then the trees are made without these names:
 *
 *	diff_roots_find(p, &by, &roots)		of the tree that was made by these levels
 *	if (roots.are_apart)
 *		by = diff_roots_without(&by)	and the tree is made again
 */
#pragma once

#include <stdbool.h>

#include "src/profile/fold_roots.h"

struct profile;

struct diff_roots {
	bool are_apart;			/* both sides have programs, and none is on both */
	const char *before, *after;	/* are_apart: the heaviest ones; borrowed of the profile */
};

void diff_roots_find(const struct profile *p, const struct fold_by *by, struct diff_roots *out);
/* The levels that are not names of programs and threads; at least FOLD_BY_NONE. */
struct fold_by diff_roots_without(const struct fold_by *by);
