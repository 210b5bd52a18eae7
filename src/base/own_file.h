/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a file or a folder is one's own alone, so that what is in it can be believed, and what is
 * written to it goes nowhere else.
 *
 * The problem. Files that probee keeps (windows, progress, caches, secrets) have names that another
 * user may have taken first: with a folder in which he can change everything, a link or a hard link
 * to a file of root's, or a FIFO that nobody answers.
 *
 * The idea. The descriptor that was opened is asked, and not the name: what is it, whose, who else
 * can write to it, and what other names has it? To open without waiting and without following a
 * link in the last part of the name is the caller's: OWN_FILE_FLAGS.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/* For open() besides O_RDONLY or O_RDWR: no link is followed, no FIFO or terminal is waited for. */
#define OWN_FILE_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

enum own_verdict {
	OWN_ALONE,
	OWN_OTHER_KIND,			/* no regular file, or no folder */
	OWN_OTHER_USER,
	OWN_SHARED,			/* the group or all others can write to it */
	OWN_LINKED,			/* the file has other names, too */
};

/* Whether it belongs to this process's user, or to the one behind sudo. */
bool own_file_is_ours(const struct stat *st);

/*
 * A file is ours; a folder belongs to this process's user alone, because whoever owns it can
 * change what is in it at any time.
 */
enum own_verdict own_file_verdict(const struct stat *st);
enum own_verdict own_folder_verdict(const struct stat *st);

/* "belongs to another user"; OWN_ALONE: "". */
const char *own_verdict_text(enum own_verdict v);

/*
 * Checks an open file. 0; or -errno: of fstat(), or -EACCES with the verdict in *v; OWN_ALONE there
 * after any other error. Silent.
 */
int own_file_check(int fd, enum own_verdict *v);
