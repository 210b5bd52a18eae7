/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/spool_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/agent/spool_names.h"
#include "src/base/fail.h"
#include "src/base/own_file.h"
#include "src/output/output_place.h"

bool spool_folder_uses(const char *name)
{
	const char *end = strrchr(name, '.');
	uint64_t seq;

	if (spool_name_parse(name, &seq) != SPOOL_NAME_OTHER || !strcmp(name, SPOOL_STATE_NAME) ||
	    !strcmp(name, SPOOL_STATUS_NAME))
		return true;
	return !strncmp(name, "target-", 7) && end && !strcmp(end, ".state");
}

static int refuse(const char *path, const char *name, enum own_verdict v)
{
	if (*name)
		return fail_why(-EACCES, "%s/%s %s, so windows cannot be kept there. Try: remove "
				"it", path, name, own_verdict_text(v));
	if (v == OWN_SHARED)
		return fail_why(-EACCES, "%s %s, so windows cannot be kept there. Try: chmod go-w "
				"%s, if nobody else has put anything into it", path,
				own_verdict_text(v), path);
	return fail_why(-EACCES, "%s %s, so windows cannot be kept there. Try: another folder, "
			"which the agent makes itself", path, own_verdict_text(v));
}

static int refuse_path(const char *path, int err, const struct output_refusal *no)
{
	if (no->why == OUTPUT_LINK_ABOVE)
		return fail_why(-EACCES, "%s: a part of the path is a link of another user (%u), "
				"which is not followed. Try: the path without links", path,
				(unsigned)no->uid);
	return fail(err, "open %s", path);
}

/* The directory that path names, through no link of another user; "x" is nothing's name. */
static int walk(const char *path, struct output_refusal *no)
{
	struct output_place place;
	struct output_user user;
	char below[PATH_MAX];
	int fd, err;

	if (snprintf(below, sizeof(below), "%s/x", path) >= (int)sizeof(below))
		return -ENAMETOOLONG;
	output_user_now(&user);
	err = output_place_open(below, &user, &place, no);
	if (err)
		return err;
	fd = openat(place.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	output_place_close(&place);
	return err ? err : fd;
}

static int make_last(const char *path, struct output_refusal *no)
{
	struct output_place place;
	struct output_user user;
	char text[PATH_MAX];
	size_t len = strlen(path);
	int err;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len >= sizeof(text))
		return -ENAMETOOLONG;
	memcpy(text, path, len);
	text[len] = 0;
	output_user_now(&user);
	err = output_place_open(text, &user, &place, no);
	if (!err && mkdirat(place.dir, place.name, 0700) && errno != EEXIST)
		err = -errno;
	output_place_close(&place);
	return err;
}

/* 0, or -EACCES, explained: a file that the agent would use is not its own alone. */
static int check_files(const char *path, int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	enum own_verdict v;
	struct dirent *e;
	struct stat st;

	if (!d) {
		err = fail(-errno, "read %s", path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(d))) {
		/* One that is gone was renamed by a sender or an agent that is ending. */
		if (!spool_folder_uses(e->d_name) ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		v = own_file_verdict(&st);
		if (v != OWN_ALONE)
			err = refuse(path, e->d_name, v);
	}
	closedir(d);
	return err;
}

static int check(const char *path, int dir)
{
	enum own_verdict v;
	struct stat st;

	if (fstat(dir, &st))
		return fail(-errno, "open %s", path);
	v = own_folder_verdict(&st);
	return v == OWN_ALONE ? check_files(path, dir) : refuse(path, "", v);
}

int spool_folder_open(const char *path, bool make)
{
	struct output_refusal no = { OUTPUT_FAILED, 0 };
	int dir = walk(path, &no), err;

	if (dir == -ENOENT && make) {
		err = make_last(path, &no);
		if (err == -EISDIR || err == -ENOENT)
			return fail(-ENOENT, "make %s", path);
		dir = err ? err : walk(path, &no);
	}
	if (dir < 0)
		return refuse_path(path, dir, &no);
	err = check(path, dir);
	if (!err)
		return dir;
	close(dir);
	return err;
}
