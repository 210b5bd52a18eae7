/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `probee report --follow`: shows a trace again and again while it grows.
 *
 * The file is looked at four times a second. When it has changed it is shown again, but not more
 * often than once a second, and so seldom that showing it takes a quarter of the time at most. The
 * file may not be there yet, be replaced or shrink: it is opened by its name each time. It ends
 *
 *	when the trace has its END record, as a recording that was not killed has in the end;
 *	when no recorder has the file open and it has not changed for 5 s (trace_output_is_open());
 *	when the reader of standard output has gone;
 *	with Ctrl-C.
 *
 * On a terminal each report replaces the one before and is cut to the height of the screen; the
 * last one is whole. Elsewhere an empty line stands between two reports.
 */
#pragma once

#include <stdbool.h>

struct shown {
	int exit_code;
	bool is_over;			/* the recording has ended, or something failed */
	bool is_empty;			/* nothing was shown: what was asked for may still come */
};

typedef struct shown (*show_fn)(void *ctx, const char *path);

/* Returns the exit code of the last report; EXIT_FAILED when there was none. Says why. */
int report_follow(const char *path, show_fn show, void *ctx);
