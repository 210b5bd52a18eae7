/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/file_locks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/io.h"

#define MAX_BYTES (16u << 20)

struct line {
	bool waits;
	long pid;			/* -1: the kernel names no process */
	unsigned long long inode;
};

/* "1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF"; "-> " behind the colon: a waiting one. */
static bool parse(const char *text, struct line *l)
{
	const char *p = strchr(text, ':');

	if (!p)
		return false;
	p += 1 + strspn(p + 1, " ");
	l->waits = !strncmp(p, "->", 2);
	if (l->waits)
		p += 2;
	return sscanf(p, "%*s %*s %*s %ld %*x:%*x:%llu", &l->pid, &l->inode) == 2;
}

int file_locks_read(struct file_locks *l, const char *path)
{
	struct line holder = { .pid = -1 }, line;
	char *text, *next;
	long n = io_read_file(path ? path : "/proc/locks", &text, MAX_BYTES);
	int err = 0;

	l->nr = 0;
	if (n < 0)
		return (int)n;
	for (char *p = text; *p && !err; p = next) {
		struct file_lock_wait *w;

		next = strchrnul(p, '\n');
		if (*next)
			*next++ = 0;
		if (!parse(p, &line))
			continue;
		if (!line.waits)
			holder = line;
		if (!line.waits || line.pid <= 0 || holder.pid <= 0 || holder.inode != line.inode)
			continue;
		w = array_push(&l->v, &l->nr, &l->cap);
		if (w)
			*w = (struct file_lock_wait){ (uint32_t)line.pid, (uint32_t)holder.pid,
						      line.inode };
		else
			err = -ENOMEM;
	}
	free(text);
	return err;
}

uint32_t file_locks_holder(const struct file_locks *l, uint32_t tgid, uint64_t inode)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->v[i].waiter == tgid && l->v[i].inode == inode)
			return l->v[i].holder;
	return 0;
}

void file_locks_release(struct file_locks *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
