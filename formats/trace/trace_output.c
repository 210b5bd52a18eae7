/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_source.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/output/output_file.h"
#include "src/output/output_files.h"

static enum output_seen look(int fd)
{
	uint8_t head[IDENT_SIZE];
	struct ident id;

	if (io_pread(fd, head, sizeof(head), 0) != sizeof(head) ||
	    !ident_decode(head, sizeof(head), &id))
		return OUTPUT_SEEN_OTHER;
	return trace_output_is_open(fd) ? OUTPUT_SEEN_BUSY : OUTPUT_SEEN_OWN;
}

const struct output_kind trace_output_kind = {
	.noun = "probee trace", .look = look, .is_private = true, .keeps_old = true,
	.no_terminal = true,
};

static int set_lock(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &lock);
}

/*
 * Finds out what kind of file o->fd is and where its end is. The lock is for
 * trace_output_is_open(); recording goes on without it, because a file system may have no locks.
 */
static int begin(struct trace_output *o, const char *name)
{
	struct stat st;
	off_t at;

	if (isatty(o->fd))
		return fail_why(-EINVAL,
				"a trace is not for a terminal: redirect %s or name a file", name);
	if (fstat(o->fd, &st))
		return fail(-errno, "%s", name);
	at = lseek(o->fd, 0, SEEK_CUR);
	if (fcntl(o->fd, F_GETFL) & O_APPEND)
		at = st.st_size;
	o->is_file = S_ISREG(st.st_mode) && at >= 0;
	o->base = o->is_file ? (uint64_t)at : 0;
	if (o->is_file && o->files)
		set_lock(o->fd, F_WRLCK);
	return 0;
}

int trace_output_open_in(struct output_files *files, size_t i, struct trace_output *o)
{
	int fd = output_files_open(files, i), err;

	if (fd < 0)
		return fd;
	*o = (struct trace_output){ .fd = fd, .files = files, .place = i };
	err = begin(o, output_files_path(files, i));
	if (err)
		output_files_close(files, i);
	return err;
}

static int open_path(const char *path, struct trace_output *o)
{
	struct output_files *files = output_files_new(false);
	int i = files ? output_files_add(files, path, &trace_output_kind, NULL)
		      : fail(-ENOMEM, "create %s", path);
	int err = i < 0 ? i : trace_output_open_in(files, (size_t)i, o);

	if (err)
		output_files_free(files);
	else
		o->owns_files = true;
	return err;
}

int trace_output_open(const char *path, struct trace_output *o)
{
	if (strcmp(path, "-"))
		return open_path(path, o);
	*o = (struct trace_output){ .fd = STDOUT_FILENO };
	return begin(o, "standard output");
}

int trace_output_open_fd(int fd, const char *name, struct trace_output *o)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3), err;

	if (own < 0)
		return fail(-errno, "%s", name);
	*o = (struct trace_output){ .fd = own };
	err = begin(o, name);
	if (err)
		close(own);
	return err;
}

int trace_output_spool(struct trace_output *o)
{
	int fd = trace_source_spool();

	if (fd < 0)
		return fail(fd, "make a temporary trace");
	*o = (struct trace_output){ .fd = fd, .is_file = true };
	return 0;
}

int trace_output_reader(const struct trace_output *o)
{
	int fd;

	if (!o->is_file || (fcntl(o->fd, F_GETFL) & O_ACCMODE) != O_RDWR || o->base)
		return -ESPIPE;
	fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

bool trace_output_keeps_nothing(const struct trace_output *o)
{
	struct stat st;

	return !fstat(o->fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
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

int trace_output_publish(struct trace_output *o)
{
	int err = o->files && !o->is_published ? output_files_publish(o->files, o->place) : 0;

	o->is_published = !err;
	return err;
}

/* A descriptor of trace_output_reader() would keep the lock. */
int trace_output_close(struct trace_output *o)
{
	int err = 0;

	if (o->files && o->is_file)
		set_lock(o->fd, F_UNLCK);
	if (o->files)
		err = output_files_close(o->files, o->place);
	else if (o->fd != STDOUT_FILENO && close(o->fd))
		err = -errno;
	if (o->owns_files)
		output_files_free(o->files);
	return err;
}
