/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the CSV renderer share: csv.c (the rows), csv_columns.c (what may stand in
 * them), csv_stacks.c (the cells of stacks).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/render/csv_columns.h"
#include "formats/render/text_cache.h"
#include "src/base/bytes.h"
#include "src/profile/frame_style.h"

struct csv {
	FILE *out;
	bool is_rfc4180, xstack_states;
	bool reverse;			/* outermost frame first */
	struct csv_column_list columns;
	struct syscall_names *calls;
	struct frame_style style;
	struct byte_buf row;
	struct byte_buf quoted;		/* a cell that needs quotes */
	const struct definition_store *tables;	/* the caches hold ids of this segment */
	struct text_cache frames;	/* by frame id: all functions of the frame */
	struct text_cache strings;	/* by string id: a cell of that text */
	uint32_t *path;			/* frames of a stack, innermost first */
	size_t nr_path, cap_path;
	uint64_t second;		/* for which date was made */
	char date[24];			/* "2026-10-04 12:34:56"; "" at first */
};

struct rec_sample;
struct report_sample;

/* Add to the row. 0 or -ENOMEM. */
int csv_put_user_stack(struct csv *c, const struct rec_sample *rec);
int csv_put_kernel_stack(struct csv *c, const struct rec_sample *rec);
int csv_put_string(struct csv *c, uint32_t string);	/* of the tables */
void csv_put_text(struct csv *c, const char *s);	/* which is harmless */
void csv_put_decimal(struct csv *c, uint64_t v);
