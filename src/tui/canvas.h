/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen of text in memory: what the views draw on. A terminal shows it (screen.h), and so does a
 * plain file (plain.h), so that a view knows nothing of terminals.
 *
 *	canvas_resize(&c, rows, columns)	0 or -ENOMEM; clears it
 *	canvas_clear(&c)
 *	canvas_put(&c, row, col, width, style, text) ...
 *	canvas_print(&c, out)			as lines of text without trailing spaces
 *	canvas_release(&c)			all zero before and after
 *
 * What lies outside of the canvas is cut off, so callers need not check their rows and columns.
 * Text is foreign: characters that a terminal could take for anything but a character to show
 * become \xNN, as in all other text (escape.h), and what takes no column becomes a question mark.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HEAT_STEPS 8
#define CHANGE_STEPS 3
#define SHADES 3			/* of each kind of frame, so that neighbours differ */

enum style {
	STYLE_NORMAL,
	STYLE_DIM,
	STYLE_BOLD,
	STYLE_BAR,			/* the first and the last line */
	STYLE_TAB,			/* the view that is shown */
	STYLE_HEADER,
	STYLE_SELECTED,
	STYLE_MATCH,
	STYLE_WARN,
	STYLE_GOOD,
	STYLE_KEY,
	STYLE_FRAME,			/* SHADES of each enum frame_kind, and of interpreted */
	STYLE_HEAT = STYLE_FRAME + 6 * SHADES,	/* HEAT_STEPS */
	/* Against a mark: from much less to much more, the one in the middle is no difference. */
	STYLE_CHANGE = STYLE_HEAT + HEAT_STEPS,
	STYLES = STYLE_CHANGE + 2 * CHANGE_STEPS + 1,
};

struct cell {
	uint32_t ch;		/* code point; 0: the second half of a wide character */
	uint8_t style;		/* enum style */
};

struct canvas {
	struct cell *cells;
	int rows, cols;
	bool full_names;	/* are cut in the middle, but not shortened */
	bool ascii;		/* the terminal has no UTF-8: others become '?' */
};

int canvas_resize(struct canvas *c, int rows, int cols);
void canvas_clear(struct canvas *c);
void canvas_release(struct canvas *c);
void canvas_print(const struct canvas *c, FILE *out);

/* At most width columns; returns the number of columns that were written, even if outside. */
int canvas_put(struct canvas *c, int row, int col, int width, enum style style, const char *text);
int canvas_put_len(struct canvas *c, int row, int col, int width, enum style style,
		   const char *text, size_t len);
int canvas_printf(struct canvas *c, int row, int col, int width, enum style style, const char *fmt,
		  ...) __attribute__((format(printf, 6, 7)));
/* The name of a function, shortened as columns_put_name() does. */
int canvas_put_name(struct canvas *c, int row, int col, int width, enum style style,
		    const char *name);
/* Any other text, which loses its beginning where it does not fit. */
int canvas_put_end(struct canvas *c, int row, int col, int width, enum style style,
		   const char *text);
/* width columns become spaces of this style. */
void canvas_fill(struct canvas *c, int row, int col, int width, enum style style);
/* The style of cells that are there already. */
void canvas_restyle(struct canvas *c, int row, int col, int width, enum style style);

/* One column of a sparkline: 0 .. 8 eighths. */
void canvas_spark(struct canvas *c, int row, int col, enum style style, unsigned eighths);
