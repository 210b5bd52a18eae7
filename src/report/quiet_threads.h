/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a recording of the whole machine that did nothing: they slept all the time, so
 * that they would fill a picture of wall time and tell nothing. Pictures leave them out and say how
 * many they are.
 *
 *	quiet_threads_row(&quiet, &sample, nr, begin_ns)	each row of snapshots
 *	quiet_threads_end(&quiet)
 *	quiet_threads_has(&quiet, segment, thread)
 *	quiet_threads_release(&quiet)
 *
 * A thread that waits for a disk, or for a lock whose owner is known, is no quiet one, however long
 * it has slept: it may be what the user looks for. None is quiet in a recording of less than
 * QUIET_SCANS snapshots or of chosen processes, nor where a thread's last run is not known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUIET_SCANS 3

struct rec_sample;
struct report_sample;

struct quiet_thread {
	uint64_t rows;
	bool is_active;
};

struct quiet_segment {
	struct quiet_thread *threads;	/* by id */
	size_t cap;
};

struct quiet_threads {
	struct quiet_segment *segments;
	size_t nr_segments, cap_segments;
	uint64_t nr, rows;		/* quiet threads, and their rows */
};

/*
 * Whether a row shows that its thread did, or waits for, something worth showing. futex: of
 * activity_futex(); begin_ns: when the recording began.
 */
bool quiet_row_is_active(const struct rec_sample *rec, unsigned futex, uint64_t begin_ns);
/* nr rows that are like s, of a recording that began at begin_ns. 0 or -ENOMEM, silently. */
int quiet_threads_row(struct quiet_threads *q, const struct report_sample *s, uint64_t nr,
		      uint64_t begin_ns);
void quiet_threads_end(struct quiet_threads *q);
bool quiet_threads_has(const struct quiet_threads *q, uint32_t segment, uint32_t thread);
void quiet_threads_release(struct quiet_threads *q);
