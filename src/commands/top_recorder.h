/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording that `probee top` looks at: a process of its own, so that a view that stops
 * (Ctrl-Z), hangs on its terminal or dies takes nothing from it, and a view without rights can
 * look.
 *
 *	top_recorder_start(&r, path, &command)
 *	top_recorder_await(&r, path)	until it has written something; -ECHILD: it has ended
 *	r.trace				the descriptor of the trace, to be read by another one
 *	top_recorder_is_over(&r)
 *	top_recorder_message(&r)	the last line that it printed, without "probee: "
 *	top_recorder_messages(&r)	all lines, the oldest of which may lack if they are many
 *	top_recorder_stop(&r)		its exit code; what it printed is on standard error then, or
 *					with .is_brief two lines of that
 *	top_recorder_tell(&r)		the same before its end, where nothing else is shown
 *
 * Its trace is in memory (memfd), where the reader frees what it has read (feed.h), or in a file.
 *
 * A keeper stands between the two, which holds the rights to end the recording: the view has given
 * them up. The keeper ends the recording when the view closes its end of a pipe, also by dying.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct command_table;

/* What records: cmd_record(), and what it is told. */
struct top_recorder_command {
	int (*run)(const struct command_table *all, int argc, char **argv);
	const struct command_table *all;
	int argc;
	char **argv;			/* "record" first */
};

struct top_recorder {
	pid_t keeper;			/* 0: not running any more */
	int trace;			/* memfd; -1: the trace is in a file */
	const char *path;		/* of that file, the caller's; NULL: none */
	int messages;			/* memfd: its standard error */
	int lifeline;			/* closing it ends the recording */
	int code;			/* exit code, once it is over */
	bool is_brief;			/* it says two lines at most at its end; the caller's */
	char text[16384];		/* what was asked for last of what it printed */
	off_t told;			/* bytes of messages that were printed */
};

/* path: of the file that c->argv names; NULL: none. 0 or -errno, explained. */
int top_recorder_start(struct top_recorder *r, const char *path,
		       const struct top_recorder_command *c);
/* path: of the file; NULL: none. 0: it writes; else it has ended, and .code says how. */
int top_recorder_await(struct top_recorder *r, const char *path);
bool top_recorder_is_over(void *recorder);
const char *top_recorder_message(void *recorder);	/* both: until either is called again */
const char *top_recorder_messages(void *recorder);
/* Prints what it has printed since this was called last. */
void top_recorder_tell(struct top_recorder *r);
int top_recorder_stop(struct top_recorder *r);
