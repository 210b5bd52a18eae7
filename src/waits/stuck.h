/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are stuck in the kernel: for STUCK_NS or longer in state D, which no signal ends, or
 * asleep in a function of a file system, as those of FUSE let them wait. A parent that
 * waits for its vfork child is not among them, because that is a process that it waits for.
 *
 *	stuck_is(t, &rec)
 *	stuck_text(t, calls, &rec, ns, since, buf)	"4.3 s in openat of /mnt/x (ext4, ..."
 *	stuck_list(g, calls, &v, &nr)			all of a scan, the longest wait first
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct definition_store;
struct rec_sample;
struct syscall_names;
struct wait_graph;

#define STUCK_NS 1000000000ull
#define STUCK_TEXT_MAX 1024

bool stuck_is(const struct definition_store *t, const struct rec_sample *rec);

/*
 * How long, in which call, on which file, where that is mounted, in which function of the kernel:
 * "4.3 s in openat of /mnt/x (ext4, /dev/vdb at /mnt), percpu_rwsem_wait, since 12:03:04". Foreign
 * bytes; in buf. since: when the wait began, CLOCK_REALTIME.
 */
const char *stuck_text(const struct definition_store *t, const struct syscall_names *calls,
		       const struct rec_sample *rec, uint64_t ns, uint64_t since,
		       char buf[STUCK_TEXT_MAX]);

/* Threads of one name that are stuck in the same call, on the same file, in the same function. */
struct stuck_row {
	uint32_t row;			/* the one that has waited longest */
	uint32_t nr;
	uint64_t ns;
};

/* Rows that are shown; threads of the kernel come last. *v is the caller's. 0 or -ENOMEM. */
int stuck_list(const struct wait_graph *g, const struct syscall_names *calls,
	       struct stuck_row **v, size_t *nr);
