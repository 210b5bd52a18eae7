/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file that probee writes. A new file is made beside the name and takes its place when there is
 * something to show, so what stood there stays whole until then and is never written into.
 *
 * What may stand under the name, and what becomes of it:
 *
 *	nothing				a new file
 *	an empty file of one's own	replaced
 *	an earlier output of the kind	replaced; an earlier trace becomes NAME.old
 *	/dev/null, /dev/full, a terminal	written to
 *	a FIFO of one's own with a reader	written to
 *	any other file of one's own	refused, unless the user forces it
 *	the trace that a report is of	refused
 *	files with several names	refused
 *	files and FIFOs of others	refused; "one's own" is the user's, or that of the user
 *					behind sudo
 *	symbolic links, directories, sockets, other devices, FIFOs that nobody reads	refused
 *
 * Nothing is opened that could block, and no device but those named here is opened at all. The file
 * belongs to the user behind sudo, if root runs probee for one. Files that existed are never given
 * to anybody and never get another mode.
 *
 *	output_file_open(f, user, &no)	what stands there is looked at, and f->fd is opened
 *	output_file_publish(f, user, &no)	the file takes its place; what stands there is
 *					looked at once more, because hours may have passed
 *	output_file_drop(f)		closes; a file that was not published is removed
 *
 * All are silent and make system calls only (output_files.h calls them in a forked process).
 *
 * Limits. If probee and the process of output_files.h are both killed, ".NAME.<16 digits>.tmp"
 * stays behind.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/output/output_place.h"

enum output_seen { OUTPUT_SEEN_OTHER, OUTPUT_SEEN_OWN, OUTPUT_SEEN_BUSY };

/* Traces and reports differ in this. */
struct output_kind {
	const char *noun;		/* "probee trace" */
	/* What a file is that is to be replaced; fd is open for reading. System calls only. */
	enum output_seen (*look)(int fd);
	bool is_private;		/* mode 0600; otherwise as the umask says */
	bool keeps_old;			/* an earlier one becomes NAME.old */
	bool no_terminal;
};

struct output_file {
	const char *path;
	const struct output_kind *kind;
	const char *input;		/* path of what it is made from; NULL: nothing */
	const char *other_input;	/* likewise: a comparison is made from two */
	bool force;			/* replaces also what is no earlier output */
	/* From output_file_open() on. */
	int fd;				/* -1: closed */
	bool is_file;			/* a new regular file; it has to be published */
	bool is_published;
	struct output_place place;
	char temp[NAME_MAX + 1];
	dev_t dev;			/* of the new file */
	ino_t ino;
};

int output_file_open(struct output_file *f, const struct output_user *user,
		     struct output_refusal *no);
int output_file_publish(struct output_file *f, const struct output_user *user,
			struct output_refusal *no);
void output_file_drop(struct output_file *f);

/* Whether both would take the same place. */
bool output_file_same(const struct output_file *a, const struct output_file *b);
