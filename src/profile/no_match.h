/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out that filters leave nothing of a trace, before an empty picture is made of it, and
 * prints what the trace has to ask for.
 *
 *	probee: x.pbz: no sample passes: the trace has 0-10.0 s and the thread names z-run, hog, ...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct report;

struct match_wish {
	bool samples;			/* some output shows samples of the event */
	bool scan_rows;			/* some output shows rows of snapshots */
	uint32_t scan;			/* only rows of this snapshot; 0: of any */
};

/*
 * 0: all that is wished for is there, or the trace is empty and nothing was filtered. -ENODATA: one
 * line said what is there. -EAGAIN, which is not said: nothing yet, in a trace that grows. Other
 * errors were explained, too. It reads the trace up to the first sample that passes, and not at all
 * where there is nothing to filter.
 */
int report_check_matches(struct report *rep, const struct match_wish *wish);
