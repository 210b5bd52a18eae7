/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides for each node and each function of a merged call tree whether the two recordings differ
 * there by more than chance (diff_stats.h), and fills the rest of its profile_delta.
 *
 * Only what has enough samples in both recordings together is tested: TEST_SAMPLES of them, and
 * TEST_SHARE of all weight. The sum of both says nothing about their difference, so this choice
 * makes no difference look significant, and the fewer are tested, the more are found (Bourgon,
 * Gentleman and Huber, "Independent filtering increases detection power for high-throughput
 * experiments", PNAS 107, 2010). At most TEST_MAX nodes are tested, the heaviest ones, which bounds
 * the memory.
 */
#pragma once

#include <stdint.h>

#define TEST_SAMPLES 8
#define TEST_SHARE 0.001
#define TEST_MAX 16384

struct diff_merged;
struct diff_side;

/* scale: of the weights before. 0 or -ENOMEM. */
int diff_test(struct diff_merged *m, const struct diff_side *const sides[2], double scale);
