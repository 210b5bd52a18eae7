/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the renderers of rows share: csv.c and ndjson.c (the rows), csv_columns.c (what
 * may stand in them), csv_cells.c (what cells are made of), csv_origin.c (the cells of recordings
 * and functions), csv_stacks.c (the cells of stacks).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/render/column_list.h"
#include "formats/render/csv/csv_columns.h"
#include "formats/render/text_cache.h"
#include "src/base/bytes.h"
#include "src/profile/frame_style.h"

enum csv_dialect {
	CSV_XSTACK,			/* columns separated by |, local times */
	CSV_RFC4180,			/* commas and quotes, times in UTC */
	CSV_JSON,			/* likewise UTC; texts are the inside of strings of JSON */
};

#define CSV_DATE_MAX 24

struct csv {
	FILE *out;
	enum csv_dialect dialect;
	bool xstack_states;
	bool reverse;			/* outermost frame first */
	struct csv_column_list columns;
	struct syscall_names *calls;
	struct frame_style style;
	uint8_t marks;			/* of the column stack: frame_marks.h */
	const char *kernel_suffix;	/* NULL: the usual one */
	struct byte_buf row;
	struct byte_buf quoted;		/* a cell that needs quotes */
	const struct definition_store *tables;	/* the caches hold ids of this segment */
	struct text_cache frames;	/* by frame id: all functions of the frame, with offsets */
	struct text_cache folded;	/* by frame id: the same as in folded stacks */
	struct text_cache leaves;	/* by frame id: its innermost function */
	struct text_cache strings;	/* by string id: a cell of that text */
	struct text_cache containers;	/* by string id of a cgroup: its container */
	const struct recording_facts *facts;	/* the cache holds what these say */
	struct text_cache origins;	/* by number: csv_origin.c */
	uint32_t *path;			/* frames of a stack, innermost first */
	size_t nr_path, cap_path;
	uint64_t second;		/* for which date was made */
	char date[CSV_DATE_MAX];	/* "2026-10-04 12:34:56"; "" at first */
};

struct frame_view;
struct rec_binary;
struct rec_sample;
struct render_opts;
struct report_sample;

/*
 * A renderer of rows: csv_open(), the columns are chosen, csv_enter() and csv_put_cell() for each
 * sample, csv_close(). 0 or -ENOMEM. arch: of the recording; "": unknown.
 */
int csv_open(const struct render_opts *opts, const char *arch, FILE *out, enum csv_dialect dialect,
	     struct csv **cp);
void csv_close(void *csv);
/* Forgets texts that have another meaning for this sample, or that took too much memory. */
void csv_enter(struct csv *c, const struct report_sample *s);

/* Add to the row. 0 or -ENOMEM. */
int csv_put_user_stack(struct csv *c, const struct rec_sample *rec);
int csv_put_kernel_stack(struct csv *c, const struct rec_sample *rec);
int csv_put_string(struct csv *c, uint32_t string);	/* of the tables */
void csv_put_text(struct csv *c, const char *s);	/* which is harmless */
void csv_put_decimal(struct csv *c, uint64_t v);
int csv_put_cached(struct csv *c, const struct cached_text *t);	/* NULL: -ENOMEM */
void csv_put_digits_of(struct csv *c, const struct rec_binary *b);	/* its build id */

/* Write a foreign text to the cache: as a cell, and as a frame of a stack. */
void csv_escape_cell(const struct csv *c, FILE *out, const char *s, size_t len);
void csv_escape_frame(const struct csv *c, FILE *out, const char *s, size_t len);
bool csv_is_formula(const struct csv *c, const char *s, size_t len);	/* ' goes before it */
void csv_make_date(const struct csv *c, uint64_t second, char date[CSV_DATE_MAX]);

/* Cells of csv_origin.c and csv_stacks.c: .put of a column. */
int csv_put_container(struct csv *c, const struct report_sample *s);
int csv_put_trace(struct csv *c, const struct report_sample *s);
int csv_put_host(struct csv *c, const struct report_sample *s);
int csv_put_kernel(struct csv *c, const struct report_sample *s);
int csv_put_arch(struct csv *c, const struct report_sample *s);
int csv_put_recording_id(struct csv *c, const struct report_sample *s);
int csv_put_recording_start(struct csv *c, const struct report_sample *s);
int csv_put_function(struct csv *c, const struct report_sample *s);
int csv_put_kind(struct csv *c, const struct report_sample *s);
int csv_put_file(struct csv *c, const struct report_sample *s);
int csv_put_line(struct csv *c, const struct report_sample *s);
int csv_put_binary(struct csv *c, const struct report_sample *s);
int csv_put_user_function(struct csv *c, const struct report_sample *s);
int csv_put_user_binary(struct csv *c, const struct report_sample *s);
int csv_put_build_id(struct csv *c, const struct report_sample *s);
int csv_put_stack(struct csv *c, const struct report_sample *s);
