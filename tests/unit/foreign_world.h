/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory of files that others may have made, for tests of what opens them: devices of which
 * one sees whether they were opened, mounts, processes with a root directory of their own.
 *
 *	setup(&state), teardown(&state)		of each test; *state is a struct world
 */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	char dir[64], path[128];
	int root;			/* O_PATH of dir */
};

static inline char *in(struct world *w, const char *name)
{
	snprintf(w->path, sizeof(w->path), "%s/%s", w->dir, name);
	return w->path;
}

static inline void make_file(struct world *w, const char *name, const char *text)
{
	FILE *f = fopen(in(w, name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fchmod(fileno(f), 0644), 0);
	fclose(f);
}

static inline int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));

	strcpy(w->dir, "/tmp/probee-foreign.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->root = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = w;
	return w->root >= 0 ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct world *w = *state;
	char command[100];

	close(w->root);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	test_free(w);
	return 0;
}

/* ---- was it opened? ---- */

static inline int watch(const char *path)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	assert_true(fd >= 0);
	assert_true(inotify_add_watch(fd, path, IN_OPEN) >= 0);
	return fd;
}

static inline bool was_opened(int watch_fd)
{
	char events[4096];
	bool opened = read(watch_fd, events, sizeof(events)) > 0;

	close(watch_fd);
	return opened;
}

/* A device of our own, so that nobody else opens it; a FIFO where making devices is forbidden. */
static inline char *make_device(struct world *w, const char *name)
{
	if (mknod(in(w, name), S_IFCHR | 0600, makedev(1, 3)))
		assert_int_equal(mkfifo(in(w, name), 0600), 0);
	return in(w, name);
}

/* ---- surroundings ---- */

/* In a child with a mount namespace of its own; what it returns. -1: that cannot be had here. */
static inline int with_mounts(int (*fn)(struct world *w), struct world *w)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		bool has = !unshare(CLONE_NEWNS) &&
			   !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);

		_exit(has ? fn(w) : 255);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

/* A process that waits in a root directory of its own. */
static inline pid_t live_in(const char *root)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		if (chroot(root) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		pid = -1;		/* it has ended */
	close(ready[0]);
	return pid;
}

/* A process with the root directory w->dir, if that can be had, and a binary there: /app/prog. */
struct rooted {
	struct world *w;
	pid_t pid;			/* -1: it cannot be had */
	struct stat binary;
};

static inline void rooted_begin(struct rooted *r)
{
	char command[256];
	void *w;

	assert_int_equal(setup(&w), 0);
	r->w = w;
	snprintf(command, sizeof(command),
		 "cd %s && chmod 755 . && mkdir -p app build/sub usr/lib/debug/.dwz "
		 "usr/lib/debug/.build-id/ab usr/lib/debug/app",
		 r->w->dir);
	assert_int_equal(system(command), 0);
	make_file(r->w, "app/prog", "binary");
	assert_int_equal(stat(in(r->w, "app/prog"), &r->binary), 0);
	r->pid = live_in(r->w->dir);
}

static inline void rooted_end(struct rooted *r)
{
	void *w = r->w;

	if (r->pid > 0) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
	}
	teardown(&w);
}
