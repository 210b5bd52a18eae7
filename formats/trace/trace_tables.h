/*
 * What a segment has defined so far, as far as it is needed to check the next record (TRACE.md 6):
 * ids are ascending and below their limits, references go backwards only, stacks are not deeper
 * than MAX_DEPTH. The writer checks with it what it is given, the reader what it reads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/record_codec.h"
#include "src/model/record.h"

struct trace_tables {
	uint64_t next_id[RECORD_TAGS];	/* by enum record_tag; 0 means 1 */
	uint16_t *depth;		/* of nodes, by id; 0 missing */
	size_t cap_depth;
	uint8_t *in_walk;		/* by thread: 1: it has a row of a walk that a REPEAT may refer to */
	size_t cap_in_walk;
	uint64_t bytes;			/* what a consumer needs at least to keep all definitions */
	bool has_gaps;			/* chunks are missing: some definitions are unknown */
};

void trace_tables_reset(struct trace_tables *t);	/* for a new segment; keeps the memory */

/* Chunks are missing here: from now on references may be unknown, and the last rows of threads are. */
void trace_tables_lose(struct trace_tables *t);
void trace_tables_release(struct trace_tables *t);

/*
 * Checks rec and takes note of what it defines. With gaps, a reference to something not yet defined
 * is set to 0 in *rec (lists it points to included: they must be writable then). 0, -EBADMSG,
 * -ENOMEM.
 */
int trace_tables_add(struct trace_tables *t, struct record *rec);

/* The same for one row of SAMPLES. */
int trace_tables_add_sample(struct trace_tables *t, struct rec_sample *s);
