/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* Opens again what a descriptor stands for, whatever its names are by now. */
static int open_again(int of, int flags)
{
	char self[40];
	int fd;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", of);
	fd = open(self, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int kept_file_new(int fd)
{
	return open_again(fd, O_PATH);
}

int kept_file_open(int kept)
{
	return open_again(kept, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

bool kept_file_is(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_PATH;
}
