/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a recording under way, made from the records that its trace is written from. They are
 * the rows that a report of that trace gives, in the same order.
 *
 *	live_scans_new(&l)
 *	live_scans_record(l, rec)	a record_fn: each record that the trace writer is given
 *	live_scans_chunk_end(l)		the trace writer has closed a chunk with all records so far
 *	live_scans_rows(l, max, fn, ctx)	rows of scans that are ready
 *	live_scans_end(l)		no more records will come: all rows that are left are ready
 *	live_scans_free(l)
 *
 * A scan is ready when three things have come: its receipt (SCAN) within a closed chunk, a date for
 * its rows (a CLOCK after them), and the names of all frames defined until then (SYMBOL), perhaps
 * much later. Code made at run time is named only at the end of the recording: its frames are
 * "[jit]" in these rows, and have their names in a report of the finished trace.
 *
 * Memory grows with definitions, as in a report, with threads, and with the rows that have not been
 * handed out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/report/report.h"

struct live_scans;

int live_scans_new(struct live_scans **lp);		/* 0 or -ENOMEM */
void live_scans_free(struct live_scans *l);		/* NULL is fine */

/* 0 or -ENOMEM, silently; after an error rows are missing, so the rest is of no use. */
int live_scans_record(void *live_scans, const struct record *rec);
int live_scans_chunk_end(void *live_scans);
void live_scans_end(struct live_scans *l);

/* Hands out at most max rows. Returns how many rows there were, or the error of fn. */
long live_scans_rows(struct live_scans *l, size_t max, report_sample_fn fn, void *ctx);

size_t live_scans_waiting(const struct live_scans *l);	/* rows not handed out */
bool live_scans_need_names(struct live_scans *l);	/* the next scan lacks only names */
const char *live_scans_arch(const struct live_scans *l);	/* META arch; "" before it came */
