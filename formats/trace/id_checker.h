/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks records against what their segment has defined so far (TRACE.md 6): ids ascend and are
 * below their limits, references go backwards only, stacks are not deeper than MAX_DEPTH. The
 * writer checks with it the records it is given, the reader those it reads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"

/* Whether a thread has a row that a REPEAT may refer to. */
enum last_row { ROW_NONE, ROW_WAITS, ROW_RUNS /* running or ready to run */ };

struct id_checker {
	uint64_t next_id[RECORD_TAGS];	/* by enum record_tag; 0 means 1 */
	uint16_t *depth;		/* of nodes, by id; 0 missing */
	size_t cap_depth;
	uint8_t *in_scan;	/* by thread: enum last_row */
	size_t cap_in_scan;
	uint64_t rows_end;		/* the highest thread that has had a row, plus 1 */
	uint64_t bytes;			/* what a consumer needs at least to keep all definitions */
	bool has_gaps;			/* chunks are missing: some definitions are unknown */
};

void id_checker_reset(struct id_checker *t);	/* for a new segment; keeps the memory */
/* For samples from the beginning of the segment again, whose definitions are all known. */
void id_checker_again(struct id_checker *t);

/*
 * Called where chunks are missing: from now on references may be unknown, and the last rows of all
 * threads are.
 */
void id_checker_lose(struct id_checker *t);
void id_checker_release(struct id_checker *t);

/*
 * Checks rec and remembers what it defines. With gaps, a reference to something not yet defined is
 * set to 0 in *rec (lists it points to included, which must be writable then). 0, -EBADMSG,
 * -ENOMEM.
 */
int id_checker_add(struct id_checker *t, struct record *rec);

/* Checks one row of a SAMPLES record likewise. */
int id_checker_add_sample(struct id_checker *t, struct rec_sample *s);
