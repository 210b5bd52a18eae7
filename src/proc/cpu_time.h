/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How busy all CPUs were between two readings of /proc/stat. The shares that samples and snapshots
 * show are compared with it.
 */
#pragma once

#include <stdint.h>

struct cpu_time {
	uint64_t busy, all;		/* ticks of all CPUs since boot */
};

/* path: NULL for /proc/stat. 0 or -errno. */
int cpu_time_read(const char *path, struct cpu_time *out);

/* Share of the time between two readings, 0 .. 1; -1: no time has passed. */
double cpu_time_share(const struct cpu_time *from, const struct cpu_time *to);
