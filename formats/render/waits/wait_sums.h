/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The locks that were waited for in a whole recording, not in one snapshot: who waited for which
 * lock, in which function, and who held it there; how many threads at once, how long in sum, and
 * how long the longest. Sums are those of samples: each snapshot in which a thread waited counts
 * for the time between two snapshots, so a wait that lies between them is in none.
 *
 * Of a recording with many snapshots WAIT_SUMS_SCANS are looked at, equally far apart.
 */
#pragma once

#include <stdio.h>

struct render_opts;
struct report;
struct syscall_names;

#define WAIT_SUMS_SCANS 200

/* Writes nothing for a recording of one snapshot, or without such waits. 0 or -errno, silently. */
int wait_sums_put(struct report *rep, const struct render_opts *opts, struct syscall_names *calls,
		  FILE *out);
