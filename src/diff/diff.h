/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares two recordings: one call tree with the weights of both (profile_delta.h).
 *
 * Both are folded in the same way (diff_side.h), their trees become one (diff_merge.h), and each
 * place in it is tested (diff_tests.h).
 *
 *	diff_check(before, after)		they show the same event
 *	diff_reports(before, after, &opts, &p)
 *	profile_free(p)
 *
 * Weights are made comparable by what each side is divided by (enum delta_scale):
 *
 *	time	the time that was recorded, so that CPU time becomes a share of one CPU; of
 *		snapshots their number, so that thread states become a number of threads
 *	cpus	that time multiplied by the number of CPUs
 *	run	the number of recordings in the file: CPU time of one run of a command
 *	share	all weight that passed the filters
 *	none	nothing
 *	auto	run, if both sides recorded a command from its beginning to its end; else time. A
 *		command that does the same work takes the same CPU time, however long it had to wait
 *		for a CPU.
 */
#pragma once

#include <stdbool.h>

#include "src/profile/profile_delta.h"

struct fold_options;
struct profile;
struct report;
struct view;

struct diff_options {
	const struct fold_options *fold;
	const struct view *view;	/* applied to both trees */
	bool hides_quiet;		/* quiet_threads.h */
	enum delta_scale scale;
};

/* 0, or -EINVAL after saying in what they differ. */
int diff_check(const struct report *before, const struct report *after);

/* 0 or -errno, explained. */
int diff_reports(struct report *before, struct report *after, const struct diff_options *opts,
		 struct profile **pp);
