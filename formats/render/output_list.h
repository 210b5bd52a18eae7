/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outputs that a command line asks for, any number of them: --svg --csv=x.csv ...
 *
 *	struct opt rows[OUTPUT_OPTS_MAX];
 *	nr = output_list_opts(rows, offsetof(struct my_args, outputs))	one row per renderer
 *	opt_parse(...)							fills my_args.outputs
 *	output_list_check(&args.outputs)		refuses two on standard output
 *	output_list_place(&args.outputs, files, trace, false)	names its files (output_files.h)
 *	output_files_guard(files)
 *	output_list_open(&args.outputs)		says now what cannot be written
 *	output_list_run(&args.outputs, rep, &render_opts)
 *	output_list_release(&args.outputs)
 *
 * An output without a file goes to standard output. If that is a terminal, a picture goes to a file
 * instead, which stands beside the trace and has its name with another suffix, and a note says so.
 *
 * A file takes its place when it is complete. It replaces an earlier report and nothing else, if
 * the user does not force it (src/output/output_file.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct opt;
struct output_files;
struct profile;
struct render_opts;
struct renderer;
struct report;

struct output {
	const struct renderer *renderer;
	const char *file;		/* NULL or "-": standard output; borrowed from argv */
	int place;			/* number of its file; -1: standard output */
	bool is_beside;			/* the file's name is made from that of the trace */
	bool by_ending;			/* -o: the file's ending has chosen the renderer */
	int err;			/* of output_list_open(); it is not written */
};

struct output_list {
	struct output *v;
	size_t nr, cap;
	struct output_files *files;	/* NULL: not placed yet; borrowed */
};

#define OUTPUT_OPTS_MAX 16

/* rows has room for OUTPUT_OPTS_MAX options. Returns how many are filled. */
size_t output_list_opts(struct opt *rows, size_t offset);
/*
 * For an option row -o FILE, whose ending chooses the renderer, of those in the row's .data (NULL:
 * of all). dst: struct output_list
 */
int output_list_parse_file(const struct opt *o, const char *value, void *dst);
/* Fills options of other renderers than those of renderers.c; table ends with NULL. */
size_t output_list_opts_of(const struct renderer *const table[], struct opt *rows, size_t offset);
/* What -o FILE adds: an output whose format another option may change (output_list_check()). */
int output_list_add_file(struct output_list *l, const struct renderer *renderer,
			 const char *file);
/* 0 or -ENOMEM */
int output_list_add(struct output_list *l, const struct renderer *renderer, const char *file);
/* Adds an output of another list, with its place. 0 or -ENOMEM, explained. */
int output_list_add_placed(struct output_list *l, const struct output_list *from,
			   const struct output *out);
void output_list_release(struct output_list *l);

/*
 * Makes one output of a format and a file that were given apart (--speedscope -o x.json). 0, or
 * -EINVAL after a message: several would be mixed on standard output.
 */
int output_list_check(struct output_list *l);

/*
 * Adds the files of the outputs to files. trace: path of the trace that they are made from; it is
 * not overwritten. is_private: only their owner may read them (mode 0600). 0 or -errno, explained.
 */
int output_list_place(struct output_list *l, struct output_files *files, const char *trace,
		      bool is_private);

/*
 * Opens all files. 0, or the first -errno; each was explained. Those that cannot be opened are left
 * out by output_list_run(), which returns their error again, but silently.
 */
int output_list_open(struct output_list *l);

/*
 * Writes all outputs. If one fails, the others are still written. 0, or the first -errno; each was
 * explained. It is no failure if the reader of standard output closed it. May be called again.
 * Outputs that were not placed yet are, with the trace of rep.
 */
int output_list_run(struct output_list *l, struct report *rep,
		    const struct render_opts *opts);

/* Writes one output, of a tree that was made from rep and another report. It is placed. */
int output_list_show(const struct output_list *l, size_t i, struct report *rep,
		     const struct profile *prof, const struct render_opts *opts);

/*
 * Writes an output to a stream that is open. prof: of a renderer that draws a tree. 0 or -errno,
 * explained.
 */
int output_write(const struct output *o, struct report *rep, const struct profile *prof,
		 const struct render_opts *opts, FILE *out);

/*
 * A stream into the file of an output that has one, from its beginning, for who writes it piece by
 * piece. The caller closes it, and then publishes and closes the file. NULL: *err, explained.
 */
FILE *output_list_stream(const struct output_list *l, const struct output *o, int *err);

/* Whether an output can be written: output_list_open() succeeded. */
bool output_list_has_any(const struct output_list *l);
/* Whether standard output gets only text for reading. CSV on a terminal must stay as it is. */
bool output_list_is_for_reading(const struct output_list *l);

/*
 * Prints the line that stands under every report if anything was lost or is damaged. Prints nothing
 * otherwise.
 */
void output_list_summary(const struct report *rep);
