/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trace says about itself besides its samples' stacks: losses, receipts of walks, how stacks
 * ended, messages, meta data. Filled by report_open(), record by record; read through report.h.
 *
 *	trace_summary_init(&r)
 *	trace_summary_record(&r, where, rec) ...	0 or -ENOMEM, silently
 *	trace_summary_end(&r)			behind the last one
 *	trace_summary_release(&r)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/trace_reader.h"
#include "src/model/record.h"
#include "src/profile/stack_tally.h"

struct definition_store;

struct report_scans {			/* sums of the receipts of all walks */
	uint64_t count, tasks_seen, rows, skipped_idle_kthreads, filtered, read_faults, vanished,
		on_cpu, torn;
	uint64_t hung, kernel_failed;
	uint64_t duration_ns, longest_ns;
	uint64_t ends[STACK_ENDS + 1];	/* as in struct rec_scan */
	/*
	 * Threads that run or are ready to, in each walk no more than there are CPUs; and walks
	 * that had rows.
	 */
	uint64_t busy_cpus, busy_scans;
};

struct report_info {
	struct trace_status status;	/* of the whole file */
	uint32_t nr_segments, nr_ended;	/* recordings; those of them with an END record */
	uint64_t samples;
	uint64_t begin_real_ns;		/* start of the first recording, or its first sample; 0
					   unknown */
	uint64_t first_real_ns, last_real_ns;	/* of samples; 0 when there are none */
	uint64_t duration_ns;		/* of all recordings together */
	uint64_t ends[STACK_ENDS + 1];	/* by enum stack_end; the last: unknown to this version */
	uint64_t lost[LOSS_CAUSES + 1];	/* by enum loss_cause; the last: unknown to this version */
	uint64_t lost_samples;		/* the sum of those that were samples */
	uint64_t lost_all;		/* the sum of all */
	uint64_t guessed, kernel_truncated, late;	/* samples */
	uint64_t scan_rows;		/* samples that are rows of walks */
	uint64_t roots, user_stacks;	/* whole user stacks, of all that should have been */
	uint64_t frames, frames_unnamed;	/* distinct */
	uint64_t refused;		/* definitions with impossible ids */
	struct report_scans scans;
	uint32_t online_cpus;		/* of the last recording; 0 unknown */
	struct rec_end end;		/* of the last recording that has one */
};
struct report_meta_item {
	const char *key, *value;	/* NUL behind both */
	size_t len;
	uint32_t segment;
};
struct report_note {
	uint8_t severity;
	uint64_t time_ns;		/* CLOCK_MONOTONIC of its segment */
	uint32_t segment;
	const char *text;		/* NUL behind it */
	size_t len;
};

struct trace_summary {
	struct report_info info;
	struct report_meta_item *metas;
	size_t nr_metas, cap_metas;
	struct report_note *notes;
	size_t nr_notes, cap_notes;
	struct stack_tally stacks;
	uint32_t scan, scan_runnable;	/* the walk whose rows are coming: how many run or are ready
					   to */
	size_t text_bytes;		/* of metas and notes */
};

void trace_summary_init(struct trace_summary *r);
void trace_summary_release(struct trace_summary *r);

void trace_summary_end(struct trace_summary *r);

/* A record of this segment; tables: what the segment has defined so far. */
int trace_summary_record(struct trace_summary *r, uint32_t segment,
			 const struct definition_store *tables, const struct record *rec);
