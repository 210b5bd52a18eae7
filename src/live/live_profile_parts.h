/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What live_profile.c (records are counted), live_read.c (counts become a call tree) and
 * live_compact.c (what is old is folded) share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"
#include "src/live/live_counts.h"
#include "src/live/live_ids.h"
#include "src/live/last_rows.h"
#include "src/live/live_profile.h"
#include "src/live/live_windows.h"
#include "src/report/trace_summary.h"
#include "src/report/wall_clock.h"

/* How much there may be before the profile is compacted next; never below its limits. */
struct live_marks {
	size_t counts, growths, bytes;
};

struct live_profile {
	struct live_ids ids;
	struct wall_clock clock;
	struct trace_summary summary;	/* of everything but samples */
	struct live_counts counts;
	struct live_event *events;	/* by id */
	size_t nr_events, cap_events;
	struct last_rows last;
	struct live_windows windows;
	uint32_t segment;		/* number of the part of the recording */
	/* Scans are numbered through all parts, in which the recorder's numbers may begin anew. */
	uint32_t scan;			/* the newest */
	uint32_t scan_before, part_scan;	/* added to a part's numbers; its last number */
	bool has_scan;			/* of this part */
	unsigned futex;			/* activity_futex() of this machine */
	uint64_t samples, first_ns;	/* time of the first sample */
	uint64_t begin_ns, end_ns;	/* of the recording, as far as known; 0: not yet */
	struct live_limits limits;
	struct live_marks marks;
	uint8_t thrift;			/* so often less is kept than by default, each time half */
	uint32_t epoch, look;		/* look: records since the limits were looked at */
	uint64_t folded;		/* samples that lost their stack */
};

/* live_profile_compact() if there is too much; at the beginning of a part already a bit before. */
int live_profile_tidy(struct live_profile *l, bool begins_part);
