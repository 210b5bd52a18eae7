/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outputs that a command line asks for, any number of them: --svg --csv=x.csv ...
 *
 *	struct opt rows[OUTPUT_OPTS_MAX];
 *	nr = output_list_opts(rows, offsetof(struct my_args, outputs))	one row per renderer
 *	opt_parse(...)							fills my_args.outputs
 *	output_list_run(&args.outputs, rep, &render_opts)
 *	output_list_release(&args.outputs)
 *
 * An output without a file goes to standard output. If that is a terminal, a picture goes to a file
 * instead, which stands beside the trace and has its name with another suffix, and a note says so.
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

/* rows has room for OUTPUT_OPTS_MAX options. Returns how many are filled. */
size_t output_list_opts(struct opt *rows, size_t offset);
/* 0 or -ENOMEM */
int output_list_add(struct output_list *l, const struct renderer *renderer, const char *file);
void output_list_release(struct output_list *l);

/*
 * Opens and empties a file for an output, but never the trace itself. -errno, which was explained.
 */
int output_open(const char *file, const char *trace);

/*
 * Writes all outputs. If one fails, the others are still written. 0, or the first -errno; each was
 * explained. It is no failure if the reader of standard output closed it.
 */
int output_list_run(const struct output_list *l, struct report *rep,
		    const struct render_opts *opts);

/*
 * Prints the line that stands under every report if anything was lost or is damaged. Prints nothing
 * otherwise.
 */
void output_list_summary(const struct report *rep);
