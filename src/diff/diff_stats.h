/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether two recordings differ by more than chance.
 *
 * The weight of a function is a sum over samples, and two recordings of the same load never give
 * the same sum. Chance is measured in two ways, and a difference must be beyond both:
 *
 *	counting	The number n of samples in a function has a Poisson distribution; if only
 *			shares count, a binomial one. Its mean is that of both sides together, as
 *			if they were alike. So a function without any sample on one side has a
 *			variance there, too.
 *	time		Loads come in bursts, and successive samples of one thread are alike, so
 *			sums vary more than random counts do. Both recordings are cut into
 *			DIFF_BLOCKS blocks (diff_side.h), and the difference is taken block by
 *			block. Its variance is estimated from the means of overlapping batches of
 *			DIFF_BATCH successive blocks, which keeps what correlates within a batch
 *			(Meketon and Schmeiser, "Overlapping batch means: something for nothing?",
 *			Winter Simulation Conference 1984; there are 3/2 (DIFF_BLOCKS / DIFF_BATCH
 *			- 1) degrees of freedom). Blocks are paired, so phases that both recordings
 *			have, such as a start, do not count as chance.
 *
 * A difference divided by the root of its variance is Student's t, whose tail is Abramowitz and
 * Stegun, Handbook of Mathematical Functions, 26.7.4. Thousands of functions are tested, so some
 * are far out by chance. diff_discover() limits the share of false ones among those that are
 * reported (Benjamini and Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B
 * 57, 1995). Where two recordings do not differ at all, that is the probability that anything is
 * reported.
 *
 * What lies between two runs and not within one cannot be seen here: another layout of memory makes
 * a function some per cent slower for a whole run (Mytkowicz et al., "Producing wrong data without
 * doing anything obviously wrong!", ASPLOS 2009). So differences below DIFF_LEAST_CHANGE of a
 * function, or DIFF_LEAST_SHARE of the whole, are never reported.
 *
 * All is done with + - * / of doubles. The functions of libm differ between machines.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DIFF_BLOCKS 32
#define DIFF_BATCH 2
#define DIFF_FREEDOM 22			/* degrees of freedom: 3/2 * 15, even */
#define DIFF_NORMAL 400			/* degrees of freedom at which t is nearly normal */
/* 95 % of Student's t and of a normal variable lie within: for error bars. */
#define DIFF_T95 2.0739
#define DIFF_Z95 1.96
#define DIFF_FALSE 0.02			/* share of reported differences that may be chance */
#define DIFF_LEAST_CHANGE 0.05
#define DIFF_LEAST_SHARE 0.003

/* The square root of x >= 0. */
double diff_root(double x);

/* The variance of the sum of d[DIFF_BLOCKS], by overlapping batches. */
double diff_block_variance(const double d[DIFF_BLOCKS]);

/*
 * The counting variance of a difference, if there is none in truth: so many samples on both sides
 * together, of which one weighs so much on each side. A side whose samples weigh nothing has none;
 * the other one's weight counts for both.
 */
double diff_count_variance(double samples, double weight_before, double weight_after);

/* The probability that |t| is at least this large by chance; freedom is even. */
double diff_p_value(double t, unsigned freedom);

/*
 * The largest p that is still a discovery, of nr p-values, which are sorted; -1: there is none.
 * share: of false discoveries that is accepted.
 */
double diff_discover(const double *p, size_t nr, double share);
