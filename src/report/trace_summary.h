/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that a trace says about itself besides the stacks of its samples: losses, receipts of
 * scans, ends of stacks, messages, meta data. report_open() fills it record by record; report.h
 * shows it.
 *
 *	trace_summary_init(&r)
 *	trace_summary_record(&r, segment, tables, rec) ...	0 or -ENOMEM, silently
 *	trace_summary_end(&r)				after the last record
 *	trace_summary_release(&r)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/trace_reader.h"
#include "src/model/record.h"
#include "src/report/stack_tally.h"

struct definition_store;

struct report_scans {			/* sums of the receipts of all scans */
	uint64_t count, tasks_seen, rows, skipped_idle_kthreads, filtered, read_faults, vanished,
		on_cpu, torn;
	uint64_t hung, kernel_failed;
	uint64_t duration_ns, longest_ns;
	uint64_t ends[STACK_ENDS + 1];	/* as in struct rec_scan */
	/*
	 * Threads that run or are ready to run, in each scan at most as many as there are CPUs; and
	 * the number of scans that had rows.
	 */
	uint64_t busy_cpus, busy_scans;
};

struct report_info {
	struct trace_status status;	/* of the whole file */
	uint32_t nr_segments, nr_ended;	/* number of recordings; of those with an END record */
	uint32_t nr_continued;		/* of these: parts that go on in another file, or later */
	bool goes_on;			/* query.goes_on */
	uint64_t samples;
	/* Start of the first recording, or its first sample; 0: unknown. */
	uint64_t begin_real_ns;
	uint64_t first_real_ns, last_real_ns;	/* of samples; 0: there are none */
	uint64_t duration_ns;		/* of all recordings together */
	/*
	 * How user stacks ended is only known of samples that were looked at: with a query for a
	 * part of the time those of that part, otherwise all.
	 */
	uint64_t seen;			/* so many samples */
	uint64_t guessed, kernel_truncated, late;	/* numbers of samples */
	uint64_t roots, user_stacks;	/* whole user stacks; all that should have been taken */
	uint64_t ends[STACK_ENDS + 1];	/* by enum stack_end; the last: unknown to this version */
	uint64_t lost[LOSS_CAUSES + 1];	/* by enum loss_cause; the last: unknown to this version */
	uint64_t lost_samples;		/* sum of the losses that are samples */
	uint64_t lost_all;		/* sum of all losses */
	uint64_t scan_rows;		/* samples that are rows of scans */
	uint64_t frames, frames_unnamed;	/* distinct frames */
	uint64_t refused;		/* definitions with impossible ids */
	struct report_scans scans;
	uint32_t online_cpus;		/* of the last recording; 0: unknown */
	struct rec_end end;		/* of the last recording that has one */
};
struct report_meta_item {
	const char *key, *value;	/* each ends with NUL */
	size_t len;
	uint32_t segment;
};
struct report_note {
	uint8_t severity;
	uint64_t time_ns;		/* CLOCK_MONOTONIC of its segment */
	uint32_t segment;
	const char *text;		/* ends with NUL */
	size_t len;
};

struct trace_summary {
	struct report_info info;
	struct report_meta_item *metas;
	size_t nr_metas, cap_metas;
	struct report_note *notes;
	size_t nr_notes, cap_notes;
	struct stack_tally stacks;
	bool leaves_stacks;		/* trace_summary_stacks() is called by hand */
	/* The scan whose rows are coming, and how many of its threads run or are ready to run. */
	uint32_t scan, scan_runnable;
	uint32_t end_segment;		/* of info.end */
	size_t text_bytes;		/* size of metas and notes */
};

void trace_summary_init(struct trace_summary *r);
void trace_summary_release(struct trace_summary *r);

void trace_summary_end(struct trace_summary *r);

/* Adds a record of this segment. tables: what the segment has defined so far. */
int trace_summary_record(struct trace_summary *r, uint32_t segment,
			 const struct definition_store *tables, const struct record *rec);

/* Forgets what META records have said under a key. */
void trace_summary_forget_meta(struct trace_summary *r, const char *key);

/* Adds nr samples that were counted by their chunk and not read, because they are not shown. */
void trace_summary_unread(struct trace_summary *r, uint64_t nr);
/* Counts how the user stack of nr samples like s ended. 0 or -ENOMEM. */
int trace_summary_stacks(struct trace_summary *r, uint32_t segment,
			 const struct definition_store *tables, const struct rec_sample *s,
			 uint64_t nr);

/*
 * Adds a REPEAT, of whose rows so many run or are ready to run. The rows themselves, which equal
 * earlier ones but for time and scan, may be added later: nr samples like s.
 */
void trace_summary_repeat(struct trace_summary *r, uint32_t scan, uint64_t runnable);
int trace_summary_again(struct trace_summary *r, uint32_t segment,
			const struct definition_store *tables, const struct rec_sample *s,
			uint64_t nr);
