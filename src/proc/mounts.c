/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"

#define MAX_MOUNTINFO (16u << 20)

/* "36 35 98:0 /root /mountpoint options tags... - type source options" */
static bool line_is_of(const char *line, uint64_t dev, char type[MOUNT_TYPE_MAX])
{
	unsigned maj, min;
	const char *tail;

	if (sscanf(line, "%*u %*u %u:%u ", &maj, &min) != 2 || ((uint64_t)maj << 20 | min) != dev)
		return false;
	tail = strstr(line, " - ");
	if (!tail || sscanf(tail, " - %63s", type) != 1)
		type[0] = 0;
	return true;
}

bool mounts_find_type(pid_t pid, uint64_t dev, char type[MOUNT_TYPE_MAX])
{
	char path[64], *text, *line, *next;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	if (io_read_file(path, &text, MAX_MOUNTINFO) < 0)
		return false;
	for (line = text; *line && !found; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		found = line_is_of(line, dev, type);
	}
	free(text);
	return found;
}
