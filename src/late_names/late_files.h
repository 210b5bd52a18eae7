/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file that a binary of a trace was, on this machine, and its debug file.
 *
 * A trace is foreign, and so are the paths in it. They are looked up only beneath directories that
 * the user has given, from which no link leads out, and what is found there counts only if it has
 * the build-id of the binary. A binary without a build-id must have the size and the time of the
 * trace; a copy, whose time is another one, is taken if the user trusts paths. For a binary with a
 * build-id, these places are tried in this order:
 *
 *	BINARY_DIR/PATH			PATH as the process saw it
 *	BINARY_DIR/NAME			the last part of it
 *	BINARY_DIR/.build-id/xx/yyy	links by build-id, as Fedora has them
 *	DEBUG_DIR/.build-id/xx/yyy.debug	besides, or instead
 *
 * If there is nothing, servers of debug files are asked, if the user named some (debug_server.h).
 *
 * Files are opened by the opener (src/foreign/file_opener.h) and parsed in parsers. A debug file
 * has all names that its binary has, so it is enough.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "src/late_names/late_names.h"
#include "src/parse/parsers.h"

struct debug_server;
struct file_opener;

struct late_dir {
	const char *path;
	int fd;				/* O_PATH */
};

struct late_dirs {
	struct late_dir *v;
	size_t nr, cap;
};

struct late_files {
	struct file_opener *opener;
	struct parsers *parsers;
	struct debug_server *server;	/* NULL: none is asked */
	struct late_dirs binary_dirs, debug_dirs;
	bool trust_paths;
};

/* What was found. Descriptors and elf.segments are the caller's. */
struct late_found {
	int fd;				/* sealed: the binary, or its debug file */
	int debug_fd;		/* sealed: its debug file; -1: none */
	struct stat st;			/* of fd */
	struct elf_identity elf;	/* of fd */
	const char *path;		/* of the binary, if it stands there on this machine */
};

/* LATE_OK, or why there is none. */
enum late_cause late_files_find(const struct late_files *files, const struct late_binary *b,
				struct late_found *out);

/*
 * Looks for a kernel of this release (uname -r), beneath both kinds of directories, at the places
 * of src/parse/kernel_file.h. Only its build-id tells it. Servers are not asked: such files have
 * hundreds of MiB.
 */
enum late_cause late_files_find_kernel(const struct late_files *files, const struct late_binary *b,
				       const char *release, struct late_found *out);
