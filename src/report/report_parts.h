/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What report.c, report_learn.c (the first passes), report_pass.c (the others) and
 * recording_facts.c share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/report/cpu_check.h"
#include "src/report/loss_list.h"
#include "src/report/name_health.h"
#include "src/report/part_joiner.h"
#include "src/report/query.h"
#include "src/report/quiet_threads.h"
#include "src/report/report.h"
#include "src/report/stack_health.h"
#include "src/report/trace_events.h"
#include "src/report/trace_summary.h"
#include "src/report/wall_clock.h"

/*
 * Each recording costs some memory even when it is empty, and a file of many empty ones is easily
 * made. sample_counts.h keeps numbers of segments in 16 bits.
 */
#define REPORT_SEGMENTS 65536

struct definition_store;
struct trace_reader;

/* Whether a thread passes the query, as far as that was found out. */
enum verdict { VERDICT_NONE, VERDICT_WANTED, VERDICT_UNWANTED };

struct segment {
	struct definition_store *tables;
	struct wall_clock clock;
	uint8_t *verdicts;		/* by thread id: enum verdict */
	size_t cap_verdicts;
	struct stack_marks marks;	/* of query.names */
	uint64_t samples, first_ns, last_ns;	/* monotonic, of the first and the last sample */
	uint64_t begin_ns, end_ns;	/* monotonic, of the recording as far as known */
	bool has_begin, has_end;
	bool goes_on;			/* the last END says that another part follows */
	uint8_t uuid[16];		/* of its first part */
	struct recording_facts facts;
};

struct report {
	struct trace_reader *reader;
	const struct query *query;
	struct time_window window;
	bool is_windowed;		/* the query asks for a part of the time */
	struct trace_events events;
	uint32_t shown;			/* index of an event; NO_EVENT: there is none */
	char *path;
	struct part_joiner parts;
	struct segment *segments;	/* recordings: their parts are joined */
	size_t nr_segments, cap_segments;
	struct trace_summary trace_summary;
	struct loss_list losses;
	struct stack_health health;
	struct name_health names;
	struct cpu_check cpus;
	unsigned futex;			/* activity_futex() */
	struct quiet_threads quiet;
	bool hides_quiet, knows_quiet;
	bool is_blurred;
	char warning[768], shown_text[512], scans[768], names_text[512], hosts[256];
};

/* The recording of the record last read, made if it is new. NULL: no memory, or too many. */
struct segment *report_segment(struct report *rep);
void report_segments_release(struct report *rep);

/* Hides what the query does not want to see, once all names are known (hidden_frames.c). */
int report_hide_frames(struct report *rep);		/* 0 or -errno after a message */

/* The passes before all others (report_learn.c). 0 or -errno after a message. */
int report_learn(struct report *rep);
int report_learn_window(struct report *rep);	/* after query_window() */
int report_learn_recordings(struct report *rep);	/* after report_learn() */
