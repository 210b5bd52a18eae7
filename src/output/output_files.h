/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All files that a command writes: the trace, the pictures, the tables.
 *
 * The problem. A file is opened when the command begins and takes its place when it is complete
 * (output_file.h). Between the two probee gives up its rights, and without them root cannot rename
 * a file in a directory of another user. Nor can it clean up when it is killed.
 *
 * The idea. A process that is forked first of all does these few steps: the guard. It knows the
 * list of files from before the fork, and obeys three orders, open(i), publish(i) and drop(i); a
 * descriptor comes back by SCM_RIGHTS (unix(7)). It keeps the rights to create, rename and give
 * away files (CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_CHOWN) as far as the user has them, and none where
 * it works without: for root in root's directories, and without sudo. It
 * parses nothing, and whoever takes over probee can make it put these files in these places, no
 * more. It is in a process group of its own and blocks all signals, so Ctrl-C does not reach it.
 * When probee ends, in whatever way, it removes what was not published, and ends.
 *
 * Example: `sudo probee sample -o t.pbz --svg=t.svg` in a directory of the user.
 *
 *	add t.pbz, t.svg; guard		forks
 *	open 0, open 1			.t.pbz.1f..9c.tmp and .t.svg.e0..31.tmp exist
 *	publish 0			the first chunk is in the file, which becomes t.pbz
 *	kill -9				t.pbz stays, the other one goes
 *
 *	output_files_new(force)		force: --force
 *	output_files_add(fs, path, kind, input)		the number of the file; nothing is done yet
 *	output_files_guard(fs)		after the last add, before threads; optional
 *	output_files_open(fs, i)	a descriptor, borrowed; again: the same until it is closed
 *	output_files_publish(fs, i)	the file takes its place; it can be written on
 *	output_files_close(fs, i)	removes what was not published; may be opened again
 *	output_files_free(fs)		closes all
 *
 * Limits. /dev/stdout and /dev/fd/N are duplicates of descriptors that are open already; these,
 * FIFOs and devices are written to at once, and publishing does nothing. If the guard is killed,
 * files cannot be published any more. If it hangs, an order fails after 30 s, and the end comes
 * after 2 s.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct output_files;
struct output_kind;

struct output_files *output_files_new(bool force);	/* NULL: out of memory; silent */
void output_files_free(struct output_files *fs);	/* NULL is fine */

/* path and input (what the file is made from; NULL: nothing) are copied. Or -ENOMEM, explained. */
int output_files_add(struct output_files *fs, const char *path, const struct output_kind *kind,
		     const char *input);
/* All that were added are made from this one, too. 0 or -ENOMEM, explained. */
int output_files_add_input(struct output_files *fs, const char *input);
int output_files_guard(struct output_files *fs);
/* This process never shuts itself in: it makes the guard go on when somebody has stopped it. */
void output_files_may_signal(struct output_files *fs);	/* 0 or -errno, explained */

/* -errno, explained. The file is at its beginning. */
int output_files_open(struct output_files *fs, size_t i);
const char *output_files_path(const struct output_files *fs, size_t i);
int output_files_publish(struct output_files *fs, size_t i);	/* 0 or -errno, explained */
/* 0 or the -errno of close(2); silent. */
int output_files_close(struct output_files *fs, size_t i);
