/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recordings of a report: each has definitions of its own (report_parts.h). */
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_reader.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/report/report_parts.h"

static enum frame_folding folding_of(const struct query *q)
{
	if (q && q->native_only)
		return FOLD_RUNTIMES;
	return q && q->native_loops ? FOLD_NOTHING : FOLD_LOOPS;
}

struct segment *report_segment(struct report *rep)
{
	uint32_t at = part_joiner_recording(&rep->parts,
					    trace_reader_status(rep->reader)->segment);

	if (at >= REPORT_SEGMENTS)
		return NULL;
	while (rep->nr_segments <= at) {
		struct segment *s =
			array_push(&rep->segments, &rep->nr_segments, &rep->cap_segments);

		if (s)
			s->tables = definition_store_new();
		if (!s || !s->tables)
			return NULL;
		definition_store_fold(s->tables, folding_of(rep->query));
		memcpy(s->uuid, trace_reader_status(rep->reader)->uuid, sizeof(s->uuid));
	}
	return &rep->segments[at];
}

static void segment_release(struct segment *s)
{
	definition_store_free(s->tables);
	wall_clock_release(&s->clock);
	free(s->verdicts);
	stack_marks_release(&s->marks);
}

void report_segments_release(struct report *rep)
{
	for (size_t i = 0; i < rep->nr_segments; i++)
		segment_release(&rep->segments[i]);
	free(rep->segments);
}
