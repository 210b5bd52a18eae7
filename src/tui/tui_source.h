/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace that the terminal shows, and how it is to be shown: what tui_run() is told (tui.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct live_limits;

enum tui_mode { TUI_ACCUMULATE, TUI_RESET, TUI_DECAY, TUI_MODES };

struct tui_source {
	int fd;				/* of the trace, a regular file; tui_run() closes it */
	const char *name;		/* for people: "trace.pbz", "this machine" */
	bool is_live;			/* a recorder writes it now */
	bool is_here;			/* its processes are those of this machine, now */
	bool frees;			/* feed.h */
	uint64_t kept_bytes;		/* likewise */
	const struct live_limits *limits;	/* feed.h */
	/* Tells whether the recorder is gone. NULL: it is not known. */
	bool (*is_over)(void *ctx);
	/* The recorder's last words, "" without; NULL: none. */
	const char *(*message)(void *ctx);
	const char *(*messages)(void *ctx);	/* all lines of it; likewise */
	/* Gives up all rights, once files and terminal are open; NULL: nothing. */
	int (*shut_in)(void);
	/* Likewise in a process that reads files for it; NULL: nothing. */
	int (*shut_in_asked)(void);
	const char *url;		/* where it is served to browsers as well; NULL: nowhere */
	void *ctx;
};

struct tui_options {
	uint32_t refresh_ms;		/* 0: 2000 */
	uint32_t mode;			/* enum tui_mode */
	const char *view;		/* the first one shown: "threads"; NULL: "flame" */
	bool no_mouse;
	bool full_names;		/* not shortened: canvas.h */
	bool idle;			/* the stacks of idle waits: src/waits/idle.h */
	bool no_colour;
	/* tui_plain(): once, or again each refresh_ms until the trace ends */
	bool once;
	bool until_end;			/* on the terminal: it ends when the trace has */
	uint32_t rows, columns;		/* of plain text; 0: 40 and 120 */
	uint32_t settle_ms;		/* .once, of a live source: it runs so long before, */
	uint32_t names_ms;		/* and while names lack, so much longer at most */
};
