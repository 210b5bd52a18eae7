/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences that a report prints about its trace. Each is cut to size. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_info;
struct name_health;
struct report_scans;
struct stack_health;
struct trace_event;
struct trace_events;

/*
 * Losses and damage: "9 samples lost (ring-full 7, throttled 2); 1 chunk damaged; the file was cut
 * short"; "" when there are none.
 */
void report_warning_text(const struct report_info *info, char *out, size_t size);

/*
 * The event that is shown, and the others that have samples: "CPU time (cpu-clock, 99 Hz). Also
 * recorded: page-faults, snapshot; see --event"; "" without an event. Names are foreign.
 */
void report_shown_text(const struct trace_events *events, uint32_t shown, char *out, size_t size);

/*
 * How often an event is sampled: "99 Hz", "every 100th", "one per 512.0 kB", "every 1.0 s"; "":
 * unknown.
 */
void report_rate_text(const struct trace_event *event, char *out, size_t size);

/* How much of an event is shown. */
struct report_amount {
	const struct trace_event *event;	/* NULL: the trace has none */
	uint64_t samples, weight;
	uint64_t scans;			/* number of snapshots that the samples are rows of */
};

/*
 * An amount as text: "3.1 s of CPU time in 306 samples", "12,041 page-faults in 121 samples",
 * "about 12,041 page-faults in 99 samples" (at a frequency), "4.0 MB in 12 samples", "11 snapshots,
 * 1,177 thread states", "no samples".
 */
void report_amount_text(const struct report_amount *a, char *out, size_t size);

/*
 * The title of a picture: "appcpp, CPU time, 3.1 s, 306 samples". subject is foreign and may be "".
 */
void report_title_text(const char *subject, const struct report_amount *a, char *out, size_t size);

/*
 * The share of whole user stacks: "98.2 % of 12,345 user stacks are whole (1.1 % with guessed
 * frames)".
 */
void report_stacks_text(const struct stack_health *h, char *out, size_t size);

/*
 * The causes of user stacks that are not whole, as shares of all user stacks, the largest first:
 * "1.2 % chromium: no unwind information, frame pointer chain broke; 0.4 % on a CPU during the
 * walk; 0.1 % for other reasons (probee info)"; "" when all are whole. Names are foreign.
 */
void report_broken_text(const struct stack_health *h, char *out, size_t size);

/*
 * If more than one frame in ten has no name, as often as they were sampled: "31.2 % of frames, as
 * often as they were sampled, have no name, most of them in /usr/bin/bash: the file has no symbol
 * table. Try: ..."; else "". Names are foreign.
 */
void report_names_text(const struct name_health *h, char *out, size_t size);

/*
 * "11 snapshots, 1,177 thread states", and behind that what is missing: "; 1 kernel stack is
 * missing; 3 user stacks: return address 0 (ra-zero)"; "" without snapshots.
 */
void report_scans_text(const struct report_scans *w, char *out, size_t size);
/* Tasks that scans have seen and of which they have neither a row nor a reason for none. */
uint64_t report_scans_lack(const struct report_scans *w);
bool report_scans_are_whole(const struct report_scans *w);	/* nothing is missing */

/*
 * "3: 690 tasks seen = 546 rows + 126 idle kernel threads + 18 not asked for; 3 on a CPU, 0 torn, 0
 * vanished; 2 page faults; errors: none; 3.2 ms each, 8.1 ms the longest": the sum of all receipts
 * of snapshots; "" without any.
 */
void report_scan_sums_text(const struct report_scans *w, char *out, size_t size);

/*
 * The threads outside of the PID namespace: "from inside a PID namespace: 173 threads of the
 * machine are outside of it and left out, with 197 samples"; "" when META pid_namespace.outside
 * (NULL: absent) names none.
 */
void report_outside_text(const char *outside, char *out, size_t size);

/*
 * That ticks were passed over: "the rate was lowered, to 12500 of 100000 Hz at times, because ...";
 * "" when META rate.lowered (NULL: absent) says nothing of it.
 */
void report_rate_lowered_text(const char *lowered, char *out, size_t size);

/*
 * That users cost too much: "one stack in 8 of user 1000 was taken, to keep within the budget, and
 * weighs as much more"; "" when META rate.users (NULL: absent) names none.
 */
void report_user_rates_text(const char *rates, char *out, size_t size);

/*
 * A share: "1.2 %". A part never looks like the whole or like nothing: it is "99.9 %" at most, and
 * "<0.1 %" instead of "0.0 %".
 */
#define SHARE_MAX 16
const char *report_share_text(uint64_t part, uint64_t whole, char buf[SHARE_MAX]);

/*
 * "1,234 thread states of 56 threads that did nothing are hidden (--all-threads)"; "" when none
 * are.
 */
void report_hidden_text(uint64_t threads, uint64_t rows, char *out, size_t size);
