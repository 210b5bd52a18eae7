/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a binary by its bare name as the system does: a program ("python3") in $PATH, a library
 * ("libc.so.6") in the directories of the dynamic loader:
 *
 *	$LD_LIBRARY_PATH, unless this program runs with more rights than its user
 *	/etc/ld.so.conf and the files that it includes (glibc)
 *	/etc/ld-musl-ARCH.path (musl)
 *	/lib64, /usr/lib64, /lib, /usr/lib, /usr/local/lib
 *
 * A name with ".so" in it is looked for as a library first, any other as a program first. The
 * loader's cache is not read: it holds what these directories hold. A library that one program
 * brings along, in directories of its own (DT_RUNPATH), is not found.
 *
 *	struct binary_search s = { .path = getenv("PATH"), ... };
 *	if (find_binary(&s, "libc.so.6", found))	found is the path
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct binary_search {
	/* Root of the directories of the system: "", or that of a test. */
	const char *root;
	const char *path;		/* $PATH; NULL: none */
	const char *library_path;	/* $LD_LIBRARY_PATH; NULL: none */
	/*
	 * True if a regular file is what the user means. If no directory has such a file, the
	 * answer is the first one for which it was false, so that the message can be about it.
	 */
	bool (*is_wanted)(const char *path);
};

/* False: no directory has a regular file of this name; found is "" then. */
bool find_binary(const struct binary_search *s, const char *name, char found[PATH_MAX]);
