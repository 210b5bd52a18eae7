/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line that ends a recording: what was recorded, how much of it is whole, where it lies, and
 * what to type next.
 *
 *	2,310 samples and 10 snapshots of 48 threads in 10.0 s, 99.8 % of user stacks whole,
 *	214.0 KiB in 'my trace.pbz'; next: probee report 'my trace.pbz'
 *
 * What was lost and what was found are lines of their own, before this one, and only if there is
 * something of the kind:
 *
 *	losses: 12 samples; 3 kernel stacks are missing
 *	finding: CPU shortage: ...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENDING_TEXT_MAX 2048		/* as much as a message has room for */
#define LOST_TEXT_MAX 640

struct ending {
	uint64_t samples, scans, threads;
	uint64_t user_stacks, whole;
	uint64_t ns, bytes;
	bool has_samples;		/* that is, samples of events were asked for */
	bool has_reports;		/* so that there is nothing to type next */
	const char *path;		/* of the trace; NULL: it has none, and is in place */
	const char *place;
};

void ending_text(const struct ending *e, char out[ENDING_TEXT_MAX]);

/* others: losses that are no samples, in words; "": none. false: nothing was lost. */
bool ending_lost_text(uint64_t samples, const char *others, char out[LOST_TEXT_MAX]);
