/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `probee report --follow`: shows a trace again and again while it grows.
 *
 * The file is looked at four times a second. When it has changed it is shown again, but at most
 * once a second, and so rarely that showing it takes a quarter of the time at most. The file may
 * not exist yet, and it may be replaced or shrink: it is opened by its name each time. Following
 * ends
 *
 *	when the trace has its END record, which every recording writes unless it is killed;
 *	when no recorder has the file open and it has not changed for 5 s (trace_output_is_open());
 *	when the reader of standard output has gone;
 *	with Ctrl-C.
 *
 * On a terminal each report replaces the one before and is cut to the height of the screen; the
 * last report is complete. Otherwise an empty line separates two reports.
 */
#pragma once

#include <stdbool.h>

struct shown {
	int exit_code;
	bool is_over;			/* the recording has ended, or something failed */
	bool is_empty;			/* nothing was shown: what was asked for may still come */
};

typedef struct shown (*show_fn)(void *ctx, const char *path);

/* Returns the exit code of the last report, or EXIT_FAILED if there was none, with a message. */
int report_follow(const char *path, show_fn show, void *ctx);
