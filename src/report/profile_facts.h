/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts that every picture states under its title. All strings may be "". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/report/answer_lines.h"
#include "src/report/trace_summary.h"

struct profile_facts {
	const char *host, *kernel, *tool, *argv;
	const char *event;		/* name of the event that is shown: "cpu-clock" */
	const char *unit;		/* of self and total: "ns", "count", "samples", ... */
	const char *noun;		/* its samples are called "samples" or "thread states" */
	/* What a weight counts if the unit is no measure: "page-faults", "samples". */
	const char *thing;
	const char *shown;		/* report_shown_text(): this event, and the others */
	const char *amount;		/* report_amount_text() of what passed the filters */
	const char *title;		/* report_title_text(): title of the picture */
	uint64_t begin_real_ns;		/* date of the first sample, UTC */
	uint64_t duration_ns;
	uint64_t samples;		/* number of samples that passed the filters */
	uint64_t weight;		/* their weight, in unit */
	uint64_t nr_scans;		/* snapshots that these samples are rows of */
	/* If the rate was lowered at times: what a sample weighs at the rate asked for; else 0. */
	uint64_t period;
	bool has_lengths;		/* in ns; each sample has a length of its own (off-cpu) */
	uint64_t samples_total;		/* samples of the event in the trace */
	uint64_t lost;
	uint64_t roots;			/* of user_stacks: samples with a whole user stack */
	uint64_t user_stacks;
	const char *stacks;		/* report_stacks_text() of the samples */
	const char *not_whole;	/* report_broken_text(): causes of stacks that are not whole */
	uint64_t frames, frames_unnamed;	/* distinct frames */
	const char *names;		/* report_names_text(); NULL: not known */
	/* report_scans(): the receipts of scans, and the threads that no scan could see. */
	const char *scans;
	struct report_scans scan_sums;
	struct answer_lines answer;	/* .nr 0: not known */
	const char *hidden;		/* report_hidden_text(): quiet threads; NULL: not known */
	bool is_inverted;		/* the children of a node are its callers: view.h */
	bool incomplete;		/* the trace is cut, damaged or has no END record */
	bool has_other_events;		/* with samples; what was lost may be theirs */
	bool is_part;			/* the recording goes on in another file */
	const char *warning;		/* one line about losses and damage; "": there are none */
};
