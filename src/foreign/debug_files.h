/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the debug information of a binary may be besides the binary: its debug file, and the files
 * that the binary or its debug file names in turn (src/elf/beside_names.h).
 *
 * The places are those of gdb, in its order
 * (https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html), beneath our
 * own root directory and then beneath that of the process:
 *
 *	by build-id	/usr/lib/debug/.build-id/ab/cdef.debug
 *	by debug link	in the directory of the binary, in its .debug, in /usr/lib/debug/DIRECTORY;
 *			and as if /lib were /usr/lib, or the other way round: a package that was
 *			built before directories were merged has its files at the other path
 *	.dwo		by its absolute name, else in the directory of compilation, beside the
 *			binary, in /usr/lib/debug
 *	.dwp		beside the binary, beside its debug file
 *	dwz file	by its name, which may be relative to the debug file; by build-id; in
 *			/usr/lib/debug/.dwz
 *
 * What is found is opened, not read: only the reader can tell whether a file is the right one, by
 * build-id, CRC or the id of a unit.
 *
 * Whose files. They belong to root or to the owner of the binary, who could as well have written
 * what they say into the binary. In a container without root's rights that is a user of the
 * container. All but those in our own /usr/lib/debug are on the file system of the binary: a
 * process may have mounted something there that says it is root's. A file of root's that not all
 * may read is none: a mount on the same file system leads to any. Symbolic links are followed
 * inside the root directory, but not for a debug link beside the binary.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "src/elf/beside_names.h"

struct debug_name;

#define DEBUG_FILES_MAX 4

/*
 * Opens what may be the debug file of the binary that has st and was mapped from path (NULL:
 * unknown) in pid (0: in our own root directory), best first. Returns their number; no file is
 * there twice, and the binary itself is none.
 */
size_t foreign_open_debug(pid_t pid, const char *path, const struct stat *st,
			  const struct debug_name *name, int fds[DEBUG_FILES_MAX]);

struct beside_file {
	int fd;
	uint32_t name;			/* which of the names it answers */
};

/*
 * Opens the files of these names, which are sound; from: the file that has the names. pid, path and
 * st as above. Returns their number. A .dwo or .dwp is the first file of its name that may be
 * opened; of a dwz file there may be several, best first.
 */
size_t foreign_open_beside(pid_t pid, const char *path, const struct stat *st, int from,
			   const struct beside_names *names, struct beside_file files[BESIDE_MAX]);
