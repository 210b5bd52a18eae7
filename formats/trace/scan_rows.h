/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last row of each thread in a scan, and the samples that REPEATs (TRACE.md 4.19) make of them.
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
	struct rec_sample *rows;	/* by thread */
	size_t cap_rows;
	struct rec_repeat repeat;	/* the current one */
	uint32_t run, done;		/* current run; its threads that are done */
	uint64_t left_out;	/* rows of REPEATs that do not exist, since this was zeroed */
};
void scan_rows_release(struct scan_rows *w);

int scan_rows_add(struct scan_rows *w, const struct rec_sample *s);	/* 0, -ENOMEM */

/* r->runs must stay until the last row or scan_rows_stop(). */
void scan_rows_repeat(struct scan_rows *w, const struct rec_repeat *r);
void scan_rows_stop(struct scan_rows *w);

/* False: there are no more rows. */
bool scan_rows_next(struct scan_rows *w, const struct id_checker *t, struct rec_sample *s);
