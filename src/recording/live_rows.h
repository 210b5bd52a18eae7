/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outputs that are written while the recording runs: a row is written as soon as its scan is over
 * and its names are known (src/profile/live_scans.h). The bytes are the same as in a report of the
 * trace. Only outputs whose renderer can write row by row (renderer.rows) are written this way, and
 * which are not compressed: those are written at the end.
 *
 *	live_rows_open(&outputs, &l)			outputs are placed; l: NULL without any
 *	record_tee_add(&tee, live_rows_consumer(l))	gives it the records of the trace
 *	live_rows_begin(l, &render_opts)		after META: the header
 *	live_rows_write(l)				writes what is ready, and does not block
 *	live_rows_finish(l, is_urgent, ctx)		writes the rest and waits for the readers
 *	live_rows_close(l)
 *
 * A reader that does not read delays nothing but the next scan, and that only once many rows wait
 * (live_rows_full()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct live_rows;
struct output;
struct output_list;
struct pollfd;
struct record_consumer;
struct render_opts;

/*
 * outputs is borrowed. A file takes its place with its first row. 0 or -errno, which was reported.
 */
int live_rows_open(const struct output_list *outputs, struct live_rows **lp);
void live_rows_close(struct live_rows *l);		/* NULL is fine */
/* Whether out is one of the live outputs. */
bool live_rows_has(const struct live_rows *l, const struct output *out);
bool live_rows_on_terminal(const struct live_rows *l);

/* An error of this consumer ends all live outputs. */
struct record_consumer live_rows_consumer(struct live_rows *l);
/* 0 or -ENOMEM, which was reported. */
int live_rows_begin(struct live_rows *l, const struct render_opts *opts);
void live_rows_write(struct live_rows *l);

/*
 * Fills in what poll() waits for: a reader takes more or goes away, and live_rows_write() is to be
 * called. Returns their number, at most OUTPUT_OPTS_MAX.
 */
size_t live_rows_fds(const struct live_rows *l, struct pollfd *fds);
bool live_rows_need_names(const struct live_rows *l);	/* a scan waits for names only */
bool live_rows_full(const struct live_rows *l);
bool live_rows_over(const struct live_rows *l);		/* every reader has gone */

/*
 * The first error; each was reported. A reader that has closed its pipe is no error. One that does
 * not read is waited for until is_urgent() is true.
 */
int live_rows_finish(struct live_rows *l, bool (*is_urgent)(void *ctx), void *ctx);
