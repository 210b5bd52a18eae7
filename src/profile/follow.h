/*
 * The rows of a recording under way, made from the very chunks its trace consists of, so that they
 * are those that a report of that trace gives, in the same order.
 *
 *	follow_new(&f)
 *	follow_chunk(f, chunk, len)	a trace_writer_options.on_chunk
 *	follow_rows(f, max, fn, ctx)	rows of walks that are ready
 *	follow_end(f)			no more chunks will come: what is left is ready
 *	follow_free(f)
 *
 * A walk is ready when its receipt has come (SCAN), behind it the date of its rows (CLOCK) and,
 * perhaps some chunks later, the names of all frames there were (SYMBOL). Names of code made at run
 * time come at the end: these rows have "[jit]", and those of a report of the finished trace the
 * names.
 *
 * Memory grows with definitions, as in a report, and with the rows that were not handed out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "src/profile/report.h"

struct follow;

int follow_new(struct follow **fp);			/* 0 or -ENOMEM */
void follow_free(struct follow *f);			/* NULL is fine */

/* What goes wrong with one, follow_rows() says. */
void follow_chunk(void *follow, const void *chunk, size_t len);
void follow_end(struct follow *f);

/*
 * At most max rows; how many it were, or -errno: of fn, -ENOMEM, -EBADMSG (a chunk that cannot be
 * read).
 */
long follow_rows(struct follow *f, size_t max, report_sample_fn fn, void *ctx);

size_t follow_waiting(const struct follow *f);		/* rows not handed out */
bool follow_needs_names(struct follow *f);		/* a walk has all but its names */
const char *follow_arch(const struct follow *f);	/* META arch; "" before it came */
