/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One way to show a recording. A renderer is a const row in renderers.c; --NAME, its help and its
 * file suffix follow from the row. Exactly one of .render and .stream is set.
 *
 * Output is deterministic: the same input and options give the same bytes. Names are foreign bytes:
 * each renderer escapes at its own edge (escape.h). A renderer writes to out and returns 0 or
 * -errno; the caller opens, flushes and closes out and reports its errors.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct profile;
struct report;
struct report_sample;

struct render_opts {
	const char *title;		/* NULL: made from the facts */
	const char *kernel_suffix;	/* appended to kernel names by text formats: "_[k]"; ""
					   none */
	bool offsets;			/* name+0x12 */
	bool reverse_stack;		/* CSV: outermost frame first */
	bool quiet;			/* CSV: no header */
	bool wait_columns;		/* CSV: four more, at the end */
	bool deep;			/* JSON: nest as deep as the stacks are (json.c) */
	uint32_t top;			/* text: rows; 0: 15 */
	uint32_t columns;		/* text: the terminal's; 0: it is for no terminal */
	uint32_t scan;			/* waits: of this walk; 0: the last one */
	double min_percent;		/* pictures: hide frames narrower than this */
};

/* A stream renderer that is given the rows one by one: of a report, or of a recording under way. */
struct row_renderer {
	/*
	 * arch: of the recording, "" unknown. *state is for the other two; on an error there is
	 * none. 0 or -errno.
	 */
	int (*begin)(const struct render_opts *opts, const char *arch, FILE *out, void **state);
	int (*row)(void *state, const struct report_sample *s);
	void (*end)(void *state);	/* frees; writes nothing */
};

struct renderer {
	const char *name;		/* the option --NAME */
	const char *suffixes;		/* ".svg", ".folded .collapse": the first is its default
					   file's */
	const char *help;		/* one line */
	bool of_scans;			/* shows rows of snapshots only, whatever else was
					   recorded */
	bool is_for_reading;		/* text for people: shown by a pager on a terminal */
	bool is_picture;		/* never written to a terminal: goes to trace.svg beside the
					   trace */

	/* Writes the whole picture of a call tree. */
	int (*render)(const struct profile *prof, const struct render_opts *opts, FILE *out);

	/* Writes the samples themselves, in time order. */
	int (*stream)(struct report *rep, const struct render_opts *opts, FILE *out);
	const struct row_renderer *rows;	/* besides .stream; NULL: it needs the whole
						   recording */
};

extern const struct renderer *const renderers[];	/* ends with NULL */
const struct renderer *renderer_find(const char *name);
/* The one whose suffix a file's name has; NULL: none. */
const struct renderer *renderer_of_file(const char *file);
