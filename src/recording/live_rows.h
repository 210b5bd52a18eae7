/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outputs that are written while the recording runs: a row as soon as its scan is over and its
 * names are known (src/profile/live_scans.h), the same bytes as in a report of the trace. They are
 * those of an output list whose renderer can do that (renderer.rows).
 *
 *	live_rows_open(&outputs, trace_path, &l)	opens their files; NULL: there are none
 *	record_tee_add(&tee, live_rows_consumer(l))	gives it the records of the trace
 *	live_rows_begin(l, &render_opts)		after META: the header
 *	live_rows_write(l)				writes what is ready, but waits for no
 *							reader
 *	live_rows_finish(l)				writes the rest and waits for the readers
 *	live_rows_close(l)
 *
 * A reader that does not read holds up nothing but the next walk, and that only once many rows wait
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

/* Says why it fails. */
int live_rows_open(const struct output_list *outputs, const char *trace, struct live_rows **lp);
void live_rows_close(struct live_rows *l);		/* NULL is fine */
/* it is one of them */
bool live_rows_has(const struct live_rows *l, const struct output *out);
bool live_rows_on_terminal(const struct live_rows *l);

/* An error of it ends all outputs. */
struct record_consumer live_rows_consumer(struct live_rows *l);
/* 0 or -ENOMEM, which was said */
int live_rows_begin(struct live_rows *l, const struct render_opts *opts);
void live_rows_write(struct live_rows *l);

/*
 * For poll(): where a reader takes more, or goes away, call live_rows_write(). How many, at most
 * OUTPUT_OPTS_MAX.
 */
size_t live_rows_fds(const struct live_rows *l, struct pollfd *fds);
bool live_rows_need_names(const struct live_rows *l);	/* a walk waits for nothing else */
bool live_rows_full(const struct live_rows *l);
bool live_rows_over(const struct live_rows *l);		/* every reader has gone */

/* The first error of all; each was said. A reader that has gone is none. */
int live_rows_finish(struct live_rows *l);
