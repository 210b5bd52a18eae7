/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closes all descriptors in a range of numbers: in a child that was just forked, which is to hold
 * no more than what it works with.
 *
 * close_range(2) does that at once. Filters of containers that do not know it refuse it; then
 * /proc/self/fd tells which ones are open, and without /proc each number is tried.
 */
#pragma once

#include <stdbool.h>

/*
 * Closes first to last, both included; UINT_MAX: no end. false: more numbers than can be tried, so
 * some may be open still.
 */
bool close_fds(unsigned first, unsigned last);
