/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal view of a trace, finished or under way: a flame graph to walk about in, functions,
 * threads and what they wait for, time, and how good the recording is.
 *
 *	tui_run(&source, &opts)		until the user leaves it, or a stop signal comes
 *	tui_plain(&source, &opts)	the same views as plain text, for files and pipes
 *
 * Both read records only, so they need no rights. Errors are explained before or after the screen
 * is taken, never on it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct live_limits;
struct output_files;

enum tui_mode { TUI_ACCUMULATE, TUI_RESET, TUI_DECAY, TUI_MODES };

struct tui_source {
	int fd;				/* of the trace, a regular file; tui_run() closes it */
	const char *name;		/* for people: "trace.pbz", "this machine" */
	bool is_live;			/* a recorder writes it now */
	bool frees;			/* feed.h */
	uint64_t kept_bytes;		/* likewise */
	const struct live_limits *limits;	/* feed.h */
	/* Whether the recorder is gone; NULL: nobody knows. */
	bool (*is_over)(void *ctx);
	/* The recorder's last words, "" without; NULL: none. */
	const char *(*message)(void *ctx);
	/* Gives up all rights, once files and terminal are open; NULL: nothing. */
	int (*shut_in)(void);
	const char *url;		/* where it is served to browsers as well; NULL: nowhere */
	void *ctx;
};

struct tui_options {
	uint32_t refresh_ms;		/* 0: 2000 */
	uint32_t mode;			/* enum tui_mode */
	const char *view;		/* the first one shown: "threads"; NULL: "flame" */
	bool no_mouse;
	bool no_colour;
	/* tui_plain(): once, or again each refresh_ms until the trace ends */
	bool once;
	bool until_end;			/* on the terminal: it ends when the trace has */
	uint32_t rows, columns;		/* of plain text; 0: 40 and 120 */
	uint32_t settle_ms;		/* .once, of a live source: it runs so long before */
};

/* "accumulate|reset|decay" and "flame|top|...", for options and completion. */
extern const char tui_mode_names[], tui_view_names[];
int tui_mode_of(const char *name);	/* -EINVAL: there is none */
bool tui_has_view(const char *name);

/* 0, or -ENOTTY after one line: there is no terminal that tui_run() can use. */
int tui_check_terminal(void);
/* 0 or -errno, which was reported. */
int tui_run(const struct tui_source *source, const struct tui_options *opts);
int tui_plain(const struct tui_source *source, const struct tui_options *opts);
