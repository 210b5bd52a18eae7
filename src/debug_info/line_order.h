/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts the rows of a line program by address. Internal to src/debug_info: of line_program.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct line_rows;

struct line_sequence {
	size_t first, nr;		/* in the rows, as they were made */
};

/*
 * is_sorted: the rows are in each sequence, and all of them are in one. The array of rows may be
 * replaced. 0 or -ENOMEM.
 */
int line_order(struct line_rows *rows, const struct line_sequence *sequences, size_t nr,
	       bool is_sorted);
