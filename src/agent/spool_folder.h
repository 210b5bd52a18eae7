/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of windows, opened so that no other user has a say in it.
 *
 * Windows hold what the machine did, and the agent is root. So the folder must be its own, and
 * nobody else may write to it; no part of the path may be a link of another user
 * (src/output/output_place.h); and a file in it with a name that the agent uses must be a regular
 * one of its own with no other name. From then on all goes through the descriptor, and as others
 * cannot write to the folder, nothing of that changes.
 *
 * The agent does not mend such a folder: there may be more in it than can be seen.
 */
#pragma once

#include <stdbool.h>

/*
 * make: the last folder of the path is made if it is missing. The descriptor, or -errno, explained:
 * -EACCES is a folder that is refused.
 */
int spool_folder_open(const char *path, bool make);

/* Whether a file in the folder has a name that the agent uses. */
bool spool_folder_uses(const char *name);
