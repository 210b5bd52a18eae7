/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A piece of text for a report that people read: it is escaped, then measured, then written in the
 * columns that there are. For a file nothing is cut.
 *
 *	text_line_open(&l, opts, out)		0 or -ENOMEM
 *	text_line_put(&l, ...)			any number of times
 *	text_line_close(&l)			also after an error
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_WIDTH 100			/* columns if there is no terminal */

struct render_opts;

struct text_line {
	FILE *out;
	bool is_cut;			/* to what a terminal has room for */
	FILE *text;			/* writes into buf */
	char *buf;
	size_t size;
};

/* Columns of a whole line; a terminal that is too narrow wraps. */
size_t text_line_width(const struct render_opts *opts);

int text_line_open(struct text_line *l, const struct render_opts *opts, FILE *out);
void text_line_close(struct text_line *l);

typedef size_t (*put_columns_fn)(FILE *out, const char *s, size_t len, size_t room);

/*
 * Writes s and suffix in at most room columns, and cuts with put: columns_put_name(), or
 * columns_put_cut(). Returns the number of columns.
 */
size_t text_line_put(struct text_line *l, const char *s, size_t len, const char *suffix,
		     size_t room, put_columns_fn put);

/* Writes a fact and its text, in lines of at most width columns, below one another. */
void text_line_fact(struct text_line *l, const char *name, const char *text, size_t width);
