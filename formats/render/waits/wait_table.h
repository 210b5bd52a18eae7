/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of text, some of which are rows of one table whose columns are as wide as their cells need,
 * or narrower if a terminal has less room. Where there is no terminal nothing is cut.
 *
 *	wait_table_open(&t, nr_cells, functions)	functions: 1 << column for each whose cells
 *						are names of functions
 *	fputs("text", t.cell); wait_table_text(&t)	a line outside of the columns
 *	for each of the cells of a row:
 *		escape_text(t.cell, ...); wait_table_cell(&t)
 *	wait_table_put(&t, columns, out)		0: no terminal; once; 0 or -ENOMEM
 *	wait_table_close(&t)				in any case
 *
 * wait_table_tail(), between two parts of a cell, marks the second one as what is left out first
 * when there is no room. The first two cells are numbers. Text must be escaped already.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WAIT_CELLS_MAX 7

struct wait_table {
	FILE *cell;
	char *text;
	size_t size;
	struct wait_piece *pieces;
	size_t nr, cap;
	unsigned nr_cells, functions;
	unsigned at;			/* cell of the row that is being written */
	size_t tail;			/* of the cell that is being written; 0: it has none */
	bool failed;			/* out of memory */
};

/* 0 or -ENOMEM */
int wait_table_open(struct wait_table *t, unsigned nr_cells, unsigned functions);
void wait_table_close(struct wait_table *t);
void wait_table_text(struct wait_table *t);
void wait_table_tail(struct wait_table *t);
void wait_table_cell(struct wait_table *t);
int wait_table_put(struct wait_table *t, uint32_t columns, FILE *out);
