/*
 * The last row of a walk of each thread, and what REPEATs (TRACE.md 4.19) make of them.
 *
 *	walk_rows_add(w, sample)		each row of SAMPLES, in their order
 *	walk_rows_repeat(w, repeat)		a REPEAT that trace_tables_add() accepted
 *	while (walk_rows_next(w, tables, &s))	its samples
 *	walk_rows_release(w)
 *
 * Which of the rows count is in trace_tables.in_walk: a new segment and a missing chunk end that for all at once. The
 * memory is counted there as well, as part of what a thread costs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/trace_tables.h"
#include "src/model/record.h"

struct walk_rows {
	struct rec_sample *rows;	/* by thread */
	size_t cap_rows;
	struct rec_repeat repeat;	/* the one under way */
	uint32_t run, done;		/* of its runs; threads of that run behind us */
	uint64_t left_out;		/* rows that REPEATs asked for in vain, since this was zeroed */
};
void walk_rows_release(struct walk_rows *w);

int walk_rows_add(struct walk_rows *w, const struct rec_sample *s);	/* 0, -ENOMEM */

/* Its runs must stay until the last row or walk_rows_stop(). */
void walk_rows_repeat(struct walk_rows *w, const struct rec_repeat *r);
void walk_rows_stop(struct walk_rows *w);

/* False: there are no more. */
bool walk_rows_next(struct walk_rows *w, const struct trace_tables *t, struct rec_sample *s);
