/*
 * The reports that a command line asks for: --svg[=FILE] --csv[=FILE] ..., any number of them.
 *
 *	struct args { struct output_list outputs; ... } args = { 0 };
 *	struct opt rows[OUTPUT_OPTS_MAX];
 *	size_t nr = output_list_opts(offsetof(struct args, outputs), rows, OUTPUT_OPTS_MAX);
 *	opt_parse({ ..., { rows, nr } }, ...)
 *	output_list_run(&args.outputs, rep, &render_opts, "trace.pbz")
 *	output_list_release(&args.outputs)
 *
 * Without FILE, or with "-", a report goes to standard output; but a picture never goes to a terminal:
 * there it is written beside the trace (trace.pbz: trace.svg), and the name is said.
 */
#pragma once

#include <stddef.h>

struct opt;
struct render_opts;
struct renderer;
struct report;

#define OUTPUT_OPTS_MAX 16

struct output {
	const struct renderer *renderer;
	const char *path;		/* NULL or "-": standard output; borrowed from argv */
};

struct output_list {
	struct output *v;
	size_t nr, cap;
};

/* One row for each renderer, for an output_list at offset in the args; returns how many. */
size_t output_list_opts(size_t offset, struct opt *rows, size_t max);

int output_list_add(struct output_list *l, const struct renderer *r, const char *path);
void output_list_release(struct output_list *l);

/*
 * Writes all of them, in the order they were asked for, then says what the recording lost, if anything.
 * One that fails is said once and does not keep the others from being written; returns the first error. A
 * reader that has gone (EPIPE) is no error. trace_path is never written to; "-" stands for a pipe.
 */
int output_list_run(const struct output_list *l, struct report *rep, const struct render_opts *opts,
		    const char *trace_path);
