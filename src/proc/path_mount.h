/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mount that a path of a process lies in, found without asking a file system that may hang:
 * what the kernel has cached is looked up, and nothing else (RESOLVE_CACHED). Whoever hangs on the
 * path has looked it up before, so symbolic links on the way are cached, too.
 *
 * A process with another root or mount namespace, and a path whose beginning alone is cached: the
 * rest is compared with the places in mountinfo, and symbolic links in it are not followed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "src/proc/mounts.h"

/* path: absolute. false: nothing is known. */
bool path_mount(pid_t pid, const char *path, char text[MOUNT_TEXT_MAX]);
