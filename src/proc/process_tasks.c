/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/process_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/proc/procfs.h"

#define MAX_STATUS_BYTES 65536
#define MAX_CHILDREN_BYTES (1u << 20)

int process_tasks_each(pid_t pid, int (*fn)(void *ctx, pid_t tid), void *ctx)
{
	char path[64];
	struct dirent *d;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid > 0)
			err = fn(ctx, tid);
	}
	closedir(dir);
	return err;
}

static int has_number(void *ctx, pid_t tid)
{
	const uint32_t *ns_tid = ctx;
	struct proc_status status;

	return !procfs_status(tid, &status) && status.ns_tid == *ns_tid ? tid : 0;
}

pid_t process_tasks_called(pid_t pid, uint32_t ns_tid)
{
	int found = process_tasks_each(pid, has_number, &ns_tid);

	return found > 0 ? found : 0;
}

bool process_tasks_has(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return !access(path, F_OK);
}

struct wanted_child {
	pid_t pid;			/* of the parent */
	uint32_t number, depth;
};

/* The children that a thread has begun are a list of pids like "12 34 56 ". */
static int child_of(void *ctx, pid_t tid)
{
	const struct wanted_child *w = ctx;
	char path[64], *text, *p, *end;
	pid_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", w->pid, tid);
	if (io_read_file(path, &text, MAX_CHILDREN_BYTES) < 0)
		return 0;
	for (p = text; !found; p = end) {
		pid_t pid = (pid_t)strtol(p, &end, 10);

		if (end == p)
			break;
		if (procfs_is_called(pid, w->number, w->depth))
			found = pid;
	}
	free(text);
	return found;
}

pid_t process_tasks_child(pid_t pid, uint32_t number, uint32_t depth)
{
	struct wanted_child w = { pid, number, depth };
	int found = process_tasks_each(pid, child_of, &w);

	return found > 0 ? found : 0;
}

/* By its status, and not by its stat, which may wait for the end of an exec. */
static bool is_alive(pid_t pid, pid_t tid)
{
	char path[64], *text;
	const char *state;
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (io_read_file(path, &text, MAX_STATUS_BYTES) < 0)
		return false;
	state = strstr(text, "\nState:\t");
	is = state && state[8] && !strchr("ZX", state[8]);
	free(text);
	return is;
}

static int alive_one(void *ctx, pid_t tid)
{
	const pid_t *pid = ctx;

	return is_alive(*pid, tid) ? tid : 0;
}

pid_t process_tasks_living(pid_t pid)
{
	int found = is_alive(pid, pid) ? pid : process_tasks_each(pid, alive_one, &pid);

	return found > 0 ? found : 0;
}
