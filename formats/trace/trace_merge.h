/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies traces behind each other into one, record by record, as `cat` does, and says besides where
 * each recording is from. Memory does not grow with them.
 *
 *	trace_merge_init(&m, writer)
 *	trace_merge_add(&m, reader, "web-1.pbz", &sum) ...	one trace
 *
 * What the copy has and `cat` does not (TRACE.md 4.1):
 *
 *	host		A recording without META `host` gets the name of its file, so that reports
 *			by host tell it from the others.
 *	merge.from	name of the file
 *	merge.id	the recording's uuid; the copy has another one
 *	merge.clock	the wall clock of its machine: when the recording began and ended by it, and
 *			by how much it was set meanwhile. What happened at the same time on two
 *			machines is known as well as their clocks agree.
 *
 * A trace that begins with a later part of a recording (`recording.part`) would be taken for the
 * rest of the recording before it in the file, which is another one; its first part loses that
 * META. All else is as in late_names/late_copy.h: chunks begin where those of the original do, what
 * is missing there is missing in the copy, a recording without END stays one, and records of a kind
 * that this version does not know are left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct trace_reader;
struct trace_writer;

struct trace_merge {
	struct trace_writer *writer;
	bool has_segment;		/* something was written */
};

/* What was copied of a trace. */
struct trace_merge_sum {
	uint32_t recordings;		/* segments with a record */
	uint64_t samples;		/* those of REPEATs included */
	uint64_t first_real_ns, last_real_ns;	/* by its CLOCKs; 0: it has none */
	int64_t step_ns;		/* the largest step of a wall clock in one of them */
};

void trace_merge_init(struct trace_merge *m, struct trace_writer *writer);

/*
 * name: of the file, for META. 0, or -errno, which the reader or the writer has explained, or
 * -ENOMEM. After an error of the reader another trace may be added.
 */
int trace_merge_add(struct trace_merge *m, struct trace_reader *reader, const char *name,
		    struct trace_merge_sum *sum);
