/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of many traces as one table: each trace is read once, and its rows go behind those of
 * the trace before, into every output (--csv=x --ndjson=y). So memory does not grow with traces.
 *
 *	row_table_open(&t, &outputs)		after output_list_open(); one header, if any
 *	row_table_add(&t, rep, &opts) ...	the rows of a trace
 *	row_table_close(&t)			the files take their places
 *
 * Only renderers with .rows can do it. A trace that stands for more rows than one of its size may
 * (report_limits()) ends early, and the others go on; an output that cannot be written ends, and
 * the other outputs go on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/render/output_limit.h"
#include "formats/render/packed_output.h"

struct output;
struct output_list;
struct render_opts;
struct report;

struct table_output {
	const struct output *output;
	const char *name;		/* for messages */
	FILE *out;			/* NULL: closed */
	char *buffer;
	struct packed_output packed;
	/* Limit for the trace whose rows are coming. */
	struct output_limit limit;
	void *state;			/* of its renderer; NULL: it takes no rows now */
	bool is_cut;			/* its rows were too many */
	int err;			/* it cannot be written any more; 0: it can */
};

struct row_table {
	const struct output_list *outputs;
	struct table_output *v;
	size_t nr;
	uint64_t rows;			/* that were given so far */
	bool has_header;
};

/* Whether all outputs of a list are tables. */
bool row_table_suits(const struct output_list *outputs);

/* 0, or -errno after a message: nothing can be written. */
int row_table_open(struct row_table *t, const struct output_list *outputs);
/* 0, or -errno of this trace after a message; outputs that fail are said, and are no error here. */
int row_table_add(struct row_table *t, struct report *rep, const struct render_opts *opts);
/* No output takes rows any more: all failed, or their readers have gone. */
bool row_table_is_over(const struct row_table *t);
/* 0, or the first error of an output, which was explained. Frees. */
int row_table_close(struct row_table *t);
