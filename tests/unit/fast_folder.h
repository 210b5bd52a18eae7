/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A new folder for tests that write and sync thousands of times: in memory, if there is a place for
 * that. A kill of a process leaves the same in both.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

enum { FAST_FOLDER_MAX = 64 };

/* 0 or -1 */
static inline int fast_folder(const char *name, char path[FAST_FOLDER_MAX])
{
	snprintf(path, FAST_FOLDER_MAX, "/dev/shm/probee-%s.XXXXXX", name);
	if (mkdtemp(path))
		return 0;
	snprintf(path, FAST_FOLDER_MAX, "/tmp/probee-%s.XXXXXX", name);
	return mkdtemp(path) ? 0 : -1;
}
