/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/task_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char task_state(pid_t pid, pid_t tid)
{
	char path[64], text[512];
	const char *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	p = strrchr(text, ')');		/* the comm before it may hold any bytes */
	return p && p[1] == ' ' ? p[2] : '?';
}

bool task_wants_cpu(pid_t pid, pid_t tid)
{
	return task_state(pid, tid) == 'R';
}
