/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a profile has besides when it compares two recordings (diff.h): for each node of its call
 * tree, and for each function, the weight before and after, and whether they differ by more than
 * chance (diff_stats.h).
 *
 * The two recordings are made comparable by scaling the weights of the one before: all weights here
 * are in the unit of the profile's event, as if both had been recorded for as long as the one
 * after. The weights after are exactly those that a report of that recording alone shows. The nodes
 * of the profile weigh the sum of both, so that a picture has room for what is in one of them
 * alone.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/report/weight_text.h"

struct profile;

enum delta_verdict {
	DELTA_FEW,			/* too few samples to tell */
	DELTA_SAME,			/* no difference beyond chance */
	DELTA_MORE, DELTA_LESS,
};

#define DELTA_SHADES 4

struct delta {
	uint64_t before, after;
	/* Half of the interval around after - before that has the true difference in 95 of 100. */
	uint64_t error;
	uint8_t verdict;		/* enum delta_verdict */
	/* MORE and LESS: 1 .. DELTA_SHADES, which is beyond half of the largest difference. */
	uint8_t shade;
};

struct node_delta {
	struct delta total;
	uint64_t before_self, after_self;
	/* Numbers of samples, those before scaled like the weights. */
	uint64_t before_self_samples, after_self_samples;
};

struct function_delta {
	uint32_t node;			/* a node that it has: name, binary, file and kind */
	struct delta self;
};

/* How weights are made comparable, and so in what they are shown. */
enum delta_scale {
	SCALE_AUTO, SCALE_TIME, SCALE_CPUS, SCALE_RUN, SCALE_SHARE, SCALE_NONE, DELTA_SCALES
};

struct profile_delta {
	struct node_delta *nodes;	/* by index of the node */
	struct function_delta *functions;	/* by size of the difference, the largest first */
	size_t nr_functions;
	size_t tested, differing;	/* nodes of the tree */
	size_t functions_tested, functions_differing;
	enum delta_scale scale;
	uint64_t exposure[2];		/* what the weights before and after are divided by */
	/* Strings are in the names of the profile. The first two are foreign. */
	const char *before, *after;	/* "a.pbz: 3.1 s of CPU time in 306 samples, ..." */
	const char *scaled;		/* what was done to make them comparable */
	const char *method;
};

void profile_delta_free(struct profile_delta *d);	/* NULL is fine */

/*
 * How weights are shown: weight * times / of, with so many digits behind the point. of 0: with a
 * unit that fits each weight.
 */
struct delta_view {
	const char *unit;
	uint64_t times, of;
	unsigned digits;
};
struct delta_view delta_view(const struct profile *p);

/*
 * A weight as the scale shows it: "47.10" (per cent of one CPU), "12.30" (per cent of all), "3.210"
 * (threads), "31.2" (ms), "1,234 page-faults". The result lies in buf, not always at its start.
 */
const char *delta_weight_text(const struct profile *p, uint64_t weight, char buf[WEIGHT_TEXT_MAX]);
/* What those are: "% of one CPU", "ms", ...; "": they have units of their own. */
const char *delta_unit_text(const struct profile *p);

/* "+7.9" or "-7.9", with delta_weight_text(). */
const char *delta_change_text(const struct profile *p, const struct delta *d,
			      char buf[WEIGHT_TEXT_MAX + 1]);

/* after relative to before: "+20.3 %", "new", "gone". */
const char *delta_relative_text(const struct delta *d, char buf[WEIGHT_TEXT_MAX]);

const char *delta_verdict_name(unsigned verdict);	/* "few", "same", "more", "less" */
