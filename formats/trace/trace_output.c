/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/io.h"

/* A number from a variable that sudo sets; false if there is none. */
static bool env_id(const char *name, unsigned *id)
{
	const char *text = getenv(name);
	unsigned long v;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || v >= UINT32_MAX)
		return false;
	*id = (unsigned)v;
	return true;
}

/* The user who called sudo; false: not under sudo. */
static bool sudo_ids(uid_t *uid, gid_t *gid)
{
	return geteuid() == 0 && env_id("SUDO_UID", uid) && env_id("SUDO_GID", gid);
}

/* A link in a shared directory may be a trap of another user; one's own link is wanted. */
static bool link_is_own(const char *path)
{
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (lstat(path, &st) || !S_ISLNK(st.st_mode))
		return false;
	return st.st_uid == geteuid() || (sudo_ids(&uid, &gid) && st.st_uid == uid);
}

/* Opens the file, new or existing; *created says which. The descriptor or -errno. */
static int open_path(const char *path, bool *created)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	*created = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, flags | O_NOFOLLOW);
	if (fd < 0 && errno == ELOOP && link_is_own(path))
		fd = open(path, flags | O_CREAT, 0600);
	return fd < 0 ? -errno : fd;
}

/* Empties an existing file, makes it private, gives it to its user. */
static int take_over(const struct trace_output *o, const struct stat *st, bool created)
{
	uid_t uid;
	gid_t gid;

	if (!o->is_file)
		return 0;
	if (!created && ftruncate(o->fd, 0))
		return -errno;
	if (!created && st->st_uid == geteuid() && fchmod(o->fd, 0600))
		return -errno;
	if (sudo_ids(&uid, &gid) && (created || st->st_uid == 0) && fchown(o->fd, uid, gid))
		return -errno;
	return 0;
}

static int open_stdout(struct trace_output *o)
{
	struct stat st;
	off_t at;

	if (isatty(STDOUT_FILENO))
		return fail_why(
			-EINVAL,
			"a trace is not for a terminal: redirect standard output or name a file");
	if (fstat(STDOUT_FILENO, &st))
		return fail(-errno, "standard output");
	at = lseek(STDOUT_FILENO, 0, SEEK_CUR);
	if (fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND)
		at = st.st_size;
	*o = (struct trace_output){.fd = STDOUT_FILENO,
				   .is_file = S_ISREG(st.st_mode) && at >= 0,
				   .is_borrowed = true};
	o->base = o->is_file ? (uint64_t)at : 0;
	return 0;
}

/*
 * Takes the lock for trace_output_is_open(). Recording goes on without it: a file system may have
 * no locks, and a second recorder may write to the same file.
 */
static void lock_file(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}

int trace_output_open(const char *path, struct trace_output *o)
{
	struct stat st;
	bool created;
	int fd, err;

	if (!strcmp(path, "-"))
		return open_stdout(o);
	fd = open_path(path, &created);
	if (fd == -ELOOP)
		return fail_why(fd, "%s is a symbolic link of another user: not followed", path);
	if (fd < 0)
		return fail(fd, "create %s", path);
	*o = (struct trace_output){ .fd = fd };
	err = fstat(fd, &st) ? -errno : 0;
	o->is_file = !err && S_ISREG(st.st_mode);
	if (!err)
		err = take_over(o, &st, created);
	if (!err && o->is_file)
		lock_file(fd);
	if (err) {
		fail(err, "create %s", path);
		close(fd);
	}
	return err;
}

bool trace_output_is_open(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

int trace_output_write(struct trace_output *o, const void *frame, size_t len)
{
	uint64_t end = o->base + o->written;
	int err = io_write(o->fd, frame, len, NULL);

	if (!err) {
		o->written += len;
		return 0;
	}
	if (o->is_file && !ftruncate(o->fd, (off_t)end))
		lseek(o->fd, (off_t)end, SEEK_SET);
	return err;
}

int trace_output_sync(struct trace_output *o)
{
	return o->is_file && fdatasync(o->fd) ? -errno : 0;
}

int trace_output_close(struct trace_output *o)
{
	return !o->is_borrowed && close(o->fd) ? -errno : 0;
}
