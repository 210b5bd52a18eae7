/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/own_cost.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/io.h"

enum { MOST_PROCESSES = 256, FIRST_TIME = 16, TIMES = 2, FILE_BYTES = 16 << 10 };

struct tree {
	pid_t v[MOST_PROCESSES];
	size_t nr;
};

/* cutime and cstime, fields 16 and 17. The name before them may hold anything. */
static uint64_t ticks_of_ended(pid_t pid)
{
	char path[32], *text, *at;
	uint64_t ticks = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (io_read_file(path, &text, FILE_BYTES) < 0)
		return 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < FIRST_TIME; field++)
		at = strchr(at + 1, ' ');
	for (int i = 0; at && i < TIMES; i++)
		ticks += strtoull(at, &at, 10);
	free(text);
	return ticks;
}

static void add_children(struct tree *t, pid_t pid, const char *tid)
{
	char path[320], *text, *at, *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, tid);
	if (io_read_file(path, &text, FILE_BYTES) < 0)
		return;
	for (at = text; t->nr < MOST_PROCESSES; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		t->v[t->nr++] = child;
	}
	free(text);
}

static void add_all_children(struct tree *t, pid_t pid)
{
	char path[32];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			add_children(t, pid, e->d_name);
	if (d)
		closedir(d);
}

uint64_t own_cost_ns(pid_t root)
{
	struct tree t = { .v = { root }, .nr = 1 };
	uint64_t ticks = 0, ns = 0;

	for (size_t i = 0; i < t.nr; i++) {
		ns += process_cpu_ns(t.v[i]);
		ticks += ticks_of_ended(t.v[i]);
		add_all_children(&t, t.v[i]);
	}
	return ns + ticks * NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
}
