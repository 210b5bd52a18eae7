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
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/render/column_list.h"
#include "src/profile/fold_roots.h"
#include "src/profile/frame_style.h"
#include "src/profile/view.h"

struct profile;
struct report;
struct report_sample;

/* Which tree is shown. */
struct tree_view {
	struct fold_by by;		/* .nr 0: tree_choice.h chooses */
	struct view turn;
};

struct render_opts {
	struct tree_view view;
	bool all_threads;		/* quiet threads, too */
	const char *title;		/* NULL: made from the facts of the profile */
	/* Text formats append it to names of the kernel: "_[k]"; "": nothing. */
	const char *kernel_suffix;
	uint8_t marks;			/* folded stacks: frame_marks.h */
	struct frame_style style;
	bool reverse_stack;		/* CSV: outermost frame first */
	bool quiet;			/* CSV: no header */
	bool wait_columns;		/* CSV: four columns about waits, at the end */
	bool is_rfc4180;		/* CSV: commas and quotes */
	bool all_events;		/* CSV, NDJSON: samples of all events, not of one */
	bool xstack_states;		/* CSV: only the words for states that xstack has */
	/* CSV and NDJSON; .nr 0: those of xstack, and those of docs/SQL.md. */
	struct csv_column_list columns_shown;
	bool all;			/* differences: what is chance, too */
	bool idle;			/* for people, too: the stacks of idle waits */
	bool full_names;		/* for people, too: display_name.h */
	bool deep;			/* JSON: as deep as the stacks are (json.c) */
	uint32_t top;			/* text: number of functions; 0: 15 */
	uint32_t columns;		/* text: width of the terminal; 0: it is for a file */
	uint32_t scan;			/* waits: of this scan; 0: of the last one */
	bool all_waits;			/* waits: all lines, shells that wait, too */
	bool wait_stacks;		/* waits: all, with stacks */
	double min_percent;		/* pictures: hide frames narrower than this */
};

/* Writes rows that are passed one by one, from a report or from a recording under way. */
struct row_renderer {
	/*
	 * arch: of the recording; "": unknown. Sets *state for the other two functions, unless it
	 * fails. 0 or -errno.
	 */
	int (*begin)(const struct render_opts *opts, const char *arch, FILE *out, void **state);
	int (*row)(void *state, const struct report_sample *s);
	void (*end)(void *state);	/* frees; writes nothing */
};

struct renderer {
	const char *name;		/* the option --NAME */
	/* ".svg", ".folded .collapse"; the first is that of the default file. */
	const char *suffixes;
	const char *also;		/* endings that are others' unless it is named; or NULL */
	/* Or what the names of its files begin with: "callgrind.out"; NULL: anything. */
	const char *prefix;
	const char *help;		/* one line for --help */
	/* What a server calls it; NULL: plain text, or if it is packed, bytes. */
	const char *media_type;
	bool is_packed;			/* it compresses by itself */
	bool by_line;			/* frame_style.by_line of its tree */
	bool of_scans;			/* shows only rows of scans, whatever else there is */
	bool is_for_reading;		/* text for people: a terminal shows it in a pager */
	bool is_picture;		/* not for a terminal: goes to trace.svg beside the trace */

	/*
	 * Whether a file whose text begins like this (64 KiB, or all of it) is an earlier output of
	 * this renderer, which a new one may replace. Others are kept unless the user forces it.
	 */
	bool (*made)(const char *head);

	/* Writes the whole picture of a call tree. */
	int (*render)(const struct profile *prof, const struct render_opts *opts, FILE *out);

	/* Writes the samples themselves, in time order. */
	int (*stream)(struct report *rep, const struct render_opts *opts, FILE *out);
	/* Besides .stream; NULL: the renderer needs the whole recording. */
	const struct row_renderer *rows;
};

extern const struct renderer *const renderers[];	/* ends with NULL */
const struct renderer *renderer_find(const char *name);
/* The renderer that has the longest suffix of those that file ends in; NULL: none has. */
const struct renderer *renderer_of_file(const char *file);
/* The one of other renderers that has the longest suffix; table ends with NULL. */
const struct renderer *renderer_of_file_in(const struct renderer *const table[], const char *file);
/* The length of the longest suffix of the renderer that file ends in; 0: none. */
size_t renderer_suffix_len(const struct renderer *r, const char *file);
