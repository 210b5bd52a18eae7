/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which call tree an output shows, and the trees that the outputs of one report share.
 *
 *	struct trees t = { 0 };
 *	trees_get(&t, rep, renderer, opts, &p)	for each output; *p belongs to t
 *	trees_release(&t)
 *
 * Where the user does not say what the roots are (--by), pictures and text for people have programs
 * and their threads, below the states of the threads if they show wall time; quiet threads
 * (quiet_threads.h) are left out of these, unless the user chooses threads himself. Formats for
 * other programs have the names of threads, as such programs expect.
 */
#pragma once

#include <stddef.h>

#include "src/profile/fold.h"

struct profile;
struct render_opts;
struct renderer;
struct report;

struct tree {
	struct fold_by by;
	bool for_people, hides_quiet, folds_idle, by_line;
	struct profile *profile;
};

struct trees {
	struct tree v[3];		/* for people, for programs, and with lines */
	size_t nr;
};

/* The tree that an output shows, without .profile. */
struct tree tree_choose(const struct report *rep, const struct renderer *r,
			const struct render_opts *opts);

/* 0 or -errno, explained. */
int trees_get(struct trees *t, struct report *rep, const struct renderer *r,
	      const struct render_opts *opts, const struct profile **p);
void trees_release(struct trees *t);
