/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last row of each thread in a scan, and the samples that REPEATs (TRACE.md 4.20) make of them.
 *
 * A scan takes a row of every thread, and most threads have not changed since the scan before.
 * Their rows are not written again: one REPEAT names runs of threads whose last row holds once
 * more.
 *
 *	scan_rows_add(w, sample)		each row of SAMPLES, in their order
 *	scan_rows_repeat(w, repeat)		a REPEAT that id_checker_add() accepted
 *	while (scan_rows_next(w, tables, &s))	its samples
 *	scan_rows_release(w)
 *
 * 10,000 quiet threads are a few bytes in a REPEAT and 10,000 samples here. Who only counts does
 * not want them one by one:
 *
 *	scan_rows_sum(w, tables)		instead of scan_rows_next(): counts them
 *	scan_rows_take(w, thread, &s)		a thread's row and how often it was repeated since
 *						the last time: before scan_rows_add() replaces it
 *	while (scan_rows_drain(w, &s, &nr))	all that are left
 *
 * Which of the rows count is in id_checker.in_scan: a new segment or a missing chunk ends that for
 * all at once. The memory is counted there as well, as part of what a thread costs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/id_checker.h"
#include "src/model/record.h"

struct scan_rows {
	/* The rows of threads that had one; most short-lived ones have none. */
	struct rec_sample *rows;
	size_t nr_rows, cap_rows;
	uint32_t *places;		/* by thread: its row plus 1; 0: none */
	size_t cap_places;
	struct rec_repeat repeat;	/* the current one */
	uint32_t run, done;		/* current run; its threads that are done */
	uint64_t left_out;	/* rows of REPEATs that do not exist, since this was zeroed */
	uint32_t *again;		/* by thread: how often scan_rows_sum() repeated its row */
	size_t cap_again;
	size_t drained;			/* no thread below this one has been repeated */
};
void scan_rows_release(struct scan_rows *w);
/* A copy of the last rows, of which none was repeated. 0; -ENOMEM: to is empty. */
int scan_rows_copy(struct scan_rows *to, const struct scan_rows *from);

int scan_rows_add(struct scan_rows *w, const struct rec_sample *s);	/* 0, -ENOMEM */

/* r->runs must stay until the last row or scan_rows_stop(). */
void scan_rows_repeat(struct scan_rows *w, const struct rec_repeat *r);
void scan_rows_stop(struct scan_rows *w);

/* False: there are no more rows. */
bool scan_rows_next(struct scan_rows *w, const struct id_checker *t, struct rec_sample *s);

/* Counts the rows that exist of the current REPEAT, and leaves it. 0, -ENOMEM. */
int scan_rows_sum(struct scan_rows *w, const struct id_checker *t);

/* How many rows of the current REPEAT exist, and how many of these run or are ready to run. */
void scan_rows_count(const struct scan_rows *w, const struct id_checker *t, uint64_t *rows,
		     uint64_t *runnable);

/* Whether one of these is of a thread whose byte in wanted[0 .. nr) is not 0. */
bool scan_rows_any(const struct scan_rows *w, const struct id_checker *t, const uint8_t *wanted,
		   size_t nr);

/* How often the row of thread was repeated; if it was, *s is that row. Counts from 0 again. */
uint32_t scan_rows_take(struct scan_rows *w, uint32_t thread, struct rec_sample *s);
/* The next row that was repeated, and how often; false: none is left. */
bool scan_rows_drain(struct scan_rows *w, struct rec_sample *s, uint32_t *nr);
