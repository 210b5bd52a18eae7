/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/process_limits.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/plural.h"

/* 60 were needed to record one process on two CPUs; the rest is for its files. */
#define FILES_BESIDE_EVENTS 96
/* No single request is larger; with more room than that, the limit was not the cause. */
#define LARGEST_BYTES (64ull << 20)
#define TASKS_OF_RECORDING 64		/* processes and threads; 25 were seen on two CPUs */
#define TEXT_BYTES 4096

/* A file of /proc or of a control group, without memory and without messages. "": there is none. */
static void read_text(const char *path, char text[TEXT_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, TEXT_BYTES - 1);

	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

/* ---- memory ---- */

static const struct memory_kind {
	int resource;
	unsigned column;		/* of /proc/self/statm, in pages */
	const char *what, *option;
} memory_kinds[] = {
	{ RLIMIT_AS, 0, "address space", "-v" },
	{ RLIMIT_DATA, 5, "data", "-d" },
};

static uint64_t used_bytes(unsigned column)
{
	char text[TEXT_BYTES], *at = text;

	read_text("/proc/self/statm", text);
	for (; column && (at = strchr(at, ' ')); column--)
		at++;
	return at ? strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* used: 0: unknown, because a process that is shut in opens no file of /proc. */
static void say_memory(struct limit_cause *out, const struct memory_kind *k, rlim_t limit,
		       uint64_t used)
{
	int n = snprintf(out->why, sizeof(out->why),
			 "the %s of this process may have %.1f MiB (ulimit %s)", k->what,
			 (double)limit / (1 << 20), k->option);

	if (used)
		snprintf(out->why + n, sizeof(out->why) - (size_t)n, ", and %.1f MiB are used",
			 (double)used / (1 << 20));
}

static bool explain_memory(struct limit_cause *out)
{
	for (size_t i = 0; i < sizeof(memory_kinds) / sizeof(memory_kinds[0]); i++) {
		const struct memory_kind *k = &memory_kinds[i];
		uint64_t used = used_bytes(k->column);
		struct rlimit lim;

		if (getrlimit(k->resource, &lim) || lim.rlim_cur == RLIM_INFINITY ||
		    lim.rlim_cur > used + LARGEST_BYTES)
			continue;
		say_memory(out, k, lim.rlim_cur, used);
		snprintf(out->hint, sizeof(out->hint), "ulimit %s unlimited", k->option);
		return true;
	}
	return false;
}

/* ---- processes and threads ---- */

/* Threads of a process, if its real user is this one; by the lines of its status. */
static unsigned long threads_of(const char *pid, uid_t user)
{
	char path[64], text[TEXT_BYTES];
	const char *uid, *threads;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	read_text(path, text);
	uid = strstr(text, "\nUid:\t");
	threads = strstr(text, "\nThreads:\t");
	if (!uid || !threads || strtoul(uid + 6, NULL, 10) != user)
		return 0;
	return strtoul(threads + 10, NULL, 10);
}

static unsigned long tasks_of_user(uid_t user)
{
	DIR *proc = opendir("/proc");
	unsigned long nr = 0;
	struct dirent *e;

	while (proc && (e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]))
			nr += threads_of(e->d_name, user);
	if (proc)
		closedir(proc);
	return nr;
}

static bool explain_user_tasks(struct limit_cause *out)
{
	unsigned long nr;
	struct rlimit lim;

	if (!getuid() || getrlimit(RLIMIT_NPROC, &lim) || lim.rlim_cur == RLIM_INFINITY)
		return false;
	nr = tasks_of_user(getuid());
	if (nr < lim.rlim_cur)
		return false;
	snprintf(out->why, sizeof(out->why),
		 "this user may have %lu %s (ulimit -u), and has %lu", (unsigned long)lim.rlim_cur,
		 plural(lim.rlim_cur, "process or thread", "processes and threads"), nr);
	snprintf(out->hint, sizeof(out->hint), "ulimit -u %lu", nr + TASKS_OF_RECORDING);
	return true;
}

/* Version 1 has a folder for pids, version 2 one for all. */
static const struct group_kind {
	const char *line, *mount;
} group_kinds[] = {
	{ ":pids:", "/sys/fs/cgroup/pids" },
	{ "0::", "/sys/fs/cgroup" },
};

static unsigned long number_in(const char *mount, const char *group, const char *file,
			       unsigned long none)
{
	char path[TEXT_BYTES + 64], text[TEXT_BYTES];

	snprintf(path, sizeof(path), "%s%s/%s", mount, group, file);
	read_text(path, text);
	return isdigit((unsigned char)text[0]) ? strtoul(text, NULL, 10) : none;
}

/* A group that has as many tasks as it may, or a group above it. */
static bool explain_group(const char *mount, char *group, struct limit_cause *out)
{
	unsigned long max, nr;
	char *slash;

	for (;;) {
		max = number_in(mount, group, "pids.max", ULONG_MAX);
		nr = number_in(mount, group, "pids.current", 0);
		slash = strrchr(group, '/');
		if (nr >= max)
			break;
		if (!slash)
			return false;
		*slash = 0;
	}
	snprintf(out->why, sizeof(out->why),
		 "the control group may have %lu %s, and has %lu", max,
		 plural(max, "process or thread", "processes and threads"), nr);
	snprintf(out->hint, sizeof(out->hint), "a limit (pids.max) of %lu",
		 nr + TASKS_OF_RECORDING);
	return true;
}

static bool explain_groups(struct limit_cause *out)
{
	char text[TEXT_BYTES], group[TEXT_BYTES];

	read_text("/proc/self/cgroup", text);
	for (size_t i = 0; i < sizeof(group_kinds) / sizeof(group_kinds[0]); i++) {
		const char *at = strstr(text, group_kinds[i].line);

		if (!at)
			continue;
		at += strlen(group_kinds[i].line);
		snprintf(group, sizeof(group), "%.*s", (int)strcspn(at, "\n"), at);
		if (explain_group(group_kinds[i].mount, group, out))
			return true;
	}
	return false;
}

/* ---- files ---- */

unsigned long process_limits_files(unsigned cpus, unsigned events)
{
	return FILES_BESIDE_EVENTS + cpus * (1ul + 2ul * events);
}

static bool explain_files(struct limit_cause *out)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned long needed = process_limits_files(cpus > 0 ? (unsigned)cpus : 1, 1);
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= needed)
		return false;
	snprintf(out->why, sizeof(out->why),
		 "%lu files may be open at a time; a recording needs %lu here",
		 (unsigned long)lim.rlim_cur, needed);
	snprintf(out->hint, sizeof(out->hint), "ulimit -n %lu", needed);
	return true;
}

/* Helpers may write to no file at all, and say nothing of it. */
static bool explain_size(struct limit_cause *out)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_FSIZE, &lim) || lim.rlim_cur == RLIM_INFINITY || !lim.rlim_cur)
		return false;
	snprintf(out->why, sizeof(out->why), "a file may have %.1f KiB (ulimit -f)",
		 (double)lim.rlim_cur / 1024);
	snprintf(out->hint, sizeof(out->hint), "ulimit -f unlimited");
	return true;
}

/* A thread that gets no stack is EAGAIN, too, and some callers know no other error than ENOMEM. */
bool process_limits_explain(int err, struct limit_cause *out)
{
	int saved = errno;
	bool is = false;

	if (err == -ENOMEM)
		is = explain_memory(out) || explain_groups(out) || explain_user_tasks(out);
	if (err == -EAGAIN)
		is = explain_groups(out) || explain_user_tasks(out) || explain_memory(out);
	if (err == -EMFILE)
		is = explain_files(out);
	if (err == -EFBIG)
		is = explain_size(out);
	errno = saved;
	return is;
}
