/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/pid_namespace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/proc/procfs.h"

#define OWN "/proc/self/ns/pid"
#define OF_CHILDREN "/proc/self/ns/pid_for_children"

/* PROC_PID_INIT_INO of the kernel: the first PID namespace has had this inode number since 3.8. */
#define FIRST 0xEFFFFFFCu

uint64_t pid_namespace_inode(void)
{
	struct stat st;

	return stat(OWN, &st) ? 0 : st.st_ino;
}

bool pid_namespace_is_inner(void)
{
	uint64_t inode = pid_namespace_inode();

	return inode && inode != FIRST;
}

/*
 * NSpid has one number for each namespace from that of this /proc down to ours. A single number
 * means that they are the same.
 */
int pid_namespace_check_proc(const char *status_path)
{
	const char *line;
	unsigned first, second;
	char *text;
	int nr = 1;

	if (io_read_file(status_path, &text, 65536) < 0)
		return -ENOENT;
	line = strstr(text, "\nNSpid:");
	if (line)	/* absent: a kernel without PID namespaces */
		nr = sscanf(line, "\nNSpid:%u%*[ \t]%u", &first, &second);
	free(text);
	return nr == 1 ? 0 : -EXDEV;
}

/*
 * After unshare(CLONE_NEWPID) the first child begins a new namespace; until there is one, the link
 * leads nowhere.
 */
static bool children_go_elsewhere(void)
{
	struct stat own, children;

	if (stat(OWN, &own))
		return false;
	return stat(OF_CHILDREN, &children) ? errno == ENOENT : children.st_ino != own.st_ino;
}

int pid_namespace_check(void)
{
	switch (pid_namespace_check_proc("/proc/self/status")) {
	case -ENOENT:
		return fail_why(-ENOTSUP, "/proc does not know this process: it is not mounted, or "
					  "shows another PID namespace. Try: "
					  "mount -t proc proc /proc, or unshare --mount-proc");
	case -EXDEV:
		return fail_why(
			-ENOTSUP,
			"/proc shows another PID namespace than the one that probee is in. Try: "
			"mount -t proc proc /proc, or unshare --mount-proc");
	}
	if (children_go_elsewhere())
		return fail_why(-ENOTSUP, "processes that probee starts would be in another PID "
					  "namespace than itself. Try: "
					  "unshare --fork");
	return 0;
}

static int count_threads(void *ctx, pid_t pid)
{
	*(uint64_t *)ctx += procfs_threads(pid);
	return 0;
}

/* "0.00 0.01 0.05 1/123 4567": the 123 counts the threads of all namespaces (proc_loadavg(5)). */
uint64_t pid_namespace_outside(void)
{
	uint64_t all = 0, seen = 0;
	char *text;

	if (io_read_file("/proc/loadavg", &text, 4096) < 0)
		return 0;
	if (sscanf(text, "%*s %*s %*s %*u/%" SCNu64, &all) != 1)
		all = 0;
	free(text);
	procfs_each_process(count_threads, &seen);
	return all > seen ? all - seen : 0;
}
