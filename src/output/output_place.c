/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/output/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/sudo_user.h"

#define MAX_LINKS 40		/* the kernel's limit, too */

void output_user_now(struct output_user *u)
{
	uid_t uid;
	gid_t gid;

	*u = (struct output_user){ .euid = geteuid(), .uid = geteuid(), .gid = getegid() };
	if (!sudo_user(&uid, &gid))
		return;
	u->has_sudo = true;
	u->uid = uid;
	u->gid = gid;
}

bool output_user_owns(const struct output_user *u, uid_t owner)
{
	return owner == u->euid || owner == u->uid;
}

struct walk {
	const struct output_user *user;
	struct output_refusal *no;
	int dir;
	unsigned links;
	char rest[PATH_MAX];		/* what is still to be opened, below dir */
};

static void enter(struct walk *w, int dir)
{
	close(w->dir);
	w->dir = dir;
}

/* Whether a link in w->dir may be followed. */
static bool is_trusted(const struct walk *w, const struct stat *link)
{
	struct stat dir;

	if (!link->st_uid || output_user_owns(w->user, link->st_uid))
		return true;
	return w->user->euid && !fstat(w->dir, &dir) && !(dir.st_mode & S_IWOTH);
}

/* Puts the target of a link in front of what is still to be opened. */
static int follow(struct walk *w, int link, const struct stat *st)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t len;
	int root;

	if (!is_trusted(w, st)) {
		*w->no = (struct output_refusal){ OUTPUT_LINK_ABOVE, st->st_uid };
		return -ELOOP;
	}
	len = readlinkat(link, "", target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = 0;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	memcpy(rest, w->rest, sizeof(rest));
	if (snprintf(w->rest, sizeof(w->rest), "%s/%s", target, rest) >= (int)sizeof(w->rest))
		return -ENAMETOOLONG;
	if (target[0] != '/')
		return 0;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	enter(w, root);
	return 0;
}

/* Opens one directory of the path. */
static int step(struct walk *w, const char *name)
{
	int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISDIR(st.st_mode)) {
		enter(w, fd);
		return 0;
	} else
		err = S_ISLNK(st.st_mode) ? follow(w, fd, &st) : -ENOTDIR;
	close(fd);
	return err;
}

/* Takes the next name off w->rest; false: there is none. */
static bool next_name(struct walk *w, char name[NAME_MAX + 1], int *err)
{
	char *begin = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(begin, "/");

	if (!len)
		return false;
	*err = len > NAME_MAX ? -ENAMETOOLONG : 0;
	if (*err)
		return false;
	memcpy(name, begin, len);
	name[len] = 0;
	memmove(w->rest, begin + len, strlen(begin + len) + 1);
	return true;
}

/* Splits path at its last slash. */
static int split(const char *path, struct walk *w, struct output_place *p)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (!*path)
		return -ENOENT;
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) {
		w->no->why = OUTPUT_IS_DIR;
		return -EISDIR;
	}
	if (len >= sizeof(w->rest) || strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(w->rest, path, len);
	w->rest[len] = 0;
	strcpy(p->name, name);
	w->dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->dir < 0 ? -errno : 0;
}

int output_place_open(const char *path, const struct output_user *user, struct output_place *p,
		      struct output_refusal *no)
{
	struct walk w = { .user = user, .no = no, .dir = -1 };
	char name[NAME_MAX + 1];
	int err;

	p->dir = -1;
	*no = (struct output_refusal){ OUTPUT_FAILED, 0 };
	err = split(path, &w, p);
	while (!err && next_name(&w, name, &err))
		err = step(&w, name);
	if (!err)
		p->dir = w.dir;
	else if (w.dir >= 0)
		close(w.dir);
	return err;
}

void output_place_close(struct output_place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = -1;
}

int output_descriptor(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		const char *number = path + strlen(dirs[i]);
		char *end;
		long n;

		if (strncmp(path, dirs[i], strlen(dirs[i])) || *number < '0' || *number > '9')
			continue;
		n = strtol(number, &end, 10);
		if (!*end && n <= INT_MAX)
			return (int)n;
	}
	return -1;
}
