/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/close_fds.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_TRIED = 1 << 20 };

/* How many were closed, or -errno. */
static int close_listed(DIR *dir, unsigned first, unsigned last)
{
	const struct dirent *e;
	int closed = 0;

	rewinddir(dir);
	while (errno = 0, (e = readdir(dir))) {
		unsigned long fd = strtoul(e->d_name, NULL, 10);

		if (e->d_name[0] == '.' || fd < first || fd > last || (int)fd == dirfd(dir))
			continue;
		closed += !close((int)fd);
	}
	return errno ? -errno : closed;
}

/* Descriptors that are closed meanwhile may hide others, so the list is read until it has none. */
static bool close_all_listed(unsigned first, unsigned last)
{
	DIR *dir = opendir("/proc/self/fd");
	int closed;

	if (!dir)
		return false;
	do {
		closed = close_listed(dir, first, last);
	} while (closed > 0);
	closedir(dir);
	return !closed;
}

static bool close_tried(unsigned first, unsigned last)
{
	struct rlimit l = { .rlim_max = RLIM_INFINITY };

	/* Some may be above a soft limit that was lowered since. */
	getrlimit(RLIMIT_NOFILE, &l);
	for (unsigned fd = first; fd <= last && fd < l.rlim_max && fd < MOST_TRIED; fd++)
		close((int)fd);
	return l.rlim_max <= MOST_TRIED || last < MOST_TRIED;
}

bool close_fds(unsigned first, unsigned last)
{
	return first > last || !syscall(SYS_close_range, first, last, 0u) ||
	       close_all_listed(first, last) || close_tried(first, last);
}
