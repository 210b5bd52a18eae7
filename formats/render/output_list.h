/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outputs that a command line asks for: --svg --csv=x.csv ... in any number.
 *
 *	struct opt rows[OUTPUT_OPTS_MAX];
 *	nr = output_list_opts(rows, offsetof(struct my_args, outputs))		one row per renderer
 *	opt_parse(...)								fills
 *										my_args.outputs
 *	output_list_run(&args.outputs, rep, &render_opts)
 *	output_list_release(&args.outputs)
 *
 * Without a file an output goes to standard output; a picture does not when that is a terminal, but
 * to the trace's name with its own suffix, beside the trace, and a note says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct opt;
struct render_opts;
struct renderer;
struct report;

struct output {
	const struct renderer *renderer;
	const char *file;		/* NULL or "-": standard output; borrowed from argv */
};

struct output_list {
	struct output *v;
	size_t nr, cap;
};

#define OUTPUT_OPTS_MAX 16

size_t output_list_opts(struct opt *rows, size_t offset);	/* rows: OUTPUT_OPTS_MAX of them */
/* 0 or -ENOMEM */
int output_list_add(struct output_list *l, const struct renderer *renderer, const char *file);
void output_list_release(struct output_list *l);

/* Opens a file for an output, emptied; never the trace itself. -errno, which was explained. */
int output_open(const char *file, const char *trace);

/*
 * Writes all of them; a failed one does not keep the others from being written. 0, or the first
 * -errno; each was explained. A reader of standard output that has gone is no failure.
 */
int output_list_run(const struct output_list *l, struct report *rep,
		    const struct render_opts *opts);

/*
 * The line on stderr under every report, if anything was lost or is damaged; silent when all is
 * there.
 */
void output_list_summary(const struct report *rep);
