/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences that a report says about its trace. All cut what does not fit into size. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_info;
struct report_scans;
struct stack_health;
struct trace_event;
struct trace_events;

/*
 * "9 samples lost (ring-full 7, throttled 2); 1 chunk damaged; the file was cut short"; "" when all
 * is well.
 */
void report_warning_text(const struct report_info *info, char *out, size_t size);

/*
 * "CPU time (cpu-clock, 99 Hz). Also recorded: page-faults, snapshot; see --event": the event that
 * is shown, and the others that have samples; "" without one. Names are foreign.
 */
void report_shown_text(const struct trace_events *events, uint32_t shown, char *out, size_t size);

/* "99 Hz", "every 100th", "one per 512.0 kB", "every 1.0 s"; "" where it is not known. */
void report_rate_text(const struct trace_event *event, char *out, size_t size);

/* What is shown of an event. */
struct report_amount {
	const struct trace_event *event;	/* NULL: the trace has none */
	uint64_t samples, weight;
	uint64_t scans;			/* snapshots that these samples are rows of */
};

/*
 * "3.1 s of CPU time in 306 samples", "12,041 page-faults in 121 samples", "4.0 MB in 12 samples",
 * "11 snapshots, 1,177 thread states", "no samples".
 */
void report_amount_text(const struct report_amount *a, char *out, size_t size);

/*
 * "appcpp, CPU time, 3.1 s, 306 samples": what a picture is called. subject is foreign and may be
 * "".
 */
void report_title_text(const char *subject, const struct report_amount *a, char *out, size_t size);

/* "98.2 % of 12,345 user stacks are whole (1.1 % with guessed frames)" */
void report_stacks_text(const struct stack_health *h, char *out, size_t size);

/*
 * "1.2 % chromium: no unwind information, frame pointer chain broke; 0.4 % on a CPU during the
 * walk; 0.1 % for other reasons (probee info)": shares of all user stacks, the largest first; ""
 * when all are whole. Names are foreign.
 */
void report_broken_text(const struct stack_health *h, char *out, size_t size);

/*
 * "11 snapshots, 1,177 thread states", and behind that what is missing: "; torn 2, not-read 3,
 * kernel stack 1"; "" without snapshots.
 */
void report_scans_text(const struct report_scans *w, char *out, size_t size);
bool report_scans_are_whole(const struct report_scans *w);	/* nothing is missing */

/*
 * "3: 690 tasks seen = 546 rows + 126 idle kernel threads + 18 not asked for; 3 on a CPU, 0 torn, 0
 * vanished; 2 page faults; errors: none; 3.2 ms each, 8.1 ms the longest": the sum of all receipts
 * of snapshots; "" without any.
 */
void report_scan_sums_text(const struct report_scans *w, char *out, size_t size);

/*
 * "from inside a PID namespace: 173 threads of the machine are outside of it and left out, with 197
 * samples"; "" where META pid_namespace.outside (NULL: absent) does not say so.
 */
void report_outside_text(const char *outside, char *out, size_t size);

/*
 * "1.2 %"; what is not all never looks like it: "99.9 %" at most, and "<0.1 %" instead of "0.0 %".
 */
#define SHARE_MAX 16
const char *report_share_text(uint64_t part, uint64_t whole, char buf[SHARE_MAX]);
