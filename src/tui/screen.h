/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A terminal (ncurses): it shows a canvas, and says which keys were pressed.
 *
 *	screen_open(&s, opts)		0, or -ENOTTY after one line: no terminal that it can use
 *	screen_size(&s, &rows, &cols)
 *	screen_show(&s, &canvas)
 *	screen_key(&s, &mouse)		a key (tui_keycodes.h)
 *	screen_stop(&s)			Ctrl-Z: returns when the shell lets it go on
 *	screen_close(&s)		the terminal is as it was before
 *
 * A program that dies of a mistake of its own leaves the terminal as it was, too: the signals that
 * end it restore the terminal first. Keys reach the program as characters, Ctrl-C and Ctrl-Z as
 * well, so the recorder, which is another process, gets no signal from them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct canvas;
struct mouse;
struct tui_options;

struct screen {
	void *terminal;			/* SCREEN of ncurses; NULL: not open */
	bool has_utf8;
	int colours;			/* 0, 8, 256, or more: red, green and blue */
	unsigned attributes[64];	/* by enum style */
	/* The last click: a second one here soon after makes a double click. */
	int click_row, click_col;
	uint64_t click_ns;
};

/* 0, or -ENOTTY after one line: there is no terminal that it can use. */
int screen_check(void);
int screen_open(struct screen *s, const struct tui_options *opts);
void screen_close(struct screen *s);
void screen_size(const struct screen *s, int *rows, int *cols);
void screen_show(const struct screen *s, const struct canvas *c);
int screen_key(struct screen *s, struct mouse *m);
void screen_stop(const struct screen *s);
/* For struct stop_limit: restores the terminal of a process that is ended by force. */
const char *screen_rescue(void *unused);
