/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/remote_fs_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/hash_index.h"
#include "src/base/helper_process.h"
#include "src/base/io.h"
#include "src/proc/procfs.h"

#define MAX_MOUNTINFO (16u << 20)
#define MAX_BYTES (128u << 20)
#define CHUNK_BYTES (64 * 1024)
#define CHUNK_MS 500			/* a server that takes longer for a chunk does not answer */
#define FILE_MS 2000			/* limit for a whole file */
#define DEVICES 64			/* a power of two */
#define UNKNOWN_NS (100 * NSEC_PER_MSEC)
#define KNOWN_NS (10 * NSEC_PER_SEC)	/* device numbers are used again after umount */

struct device {
	uint64_t dev, until_ns;
	bool is_served, is_silent;
};

struct remote_fs_files {
	uint64_t root;
	struct device devices[DEVICES];
};

/* Device numbers have the form of struct proc_map. */
static uint64_t make_dev(unsigned major, unsigned minor)
{
	return (uint64_t)major << 20 | minor;
}

struct remote_fs_files *remote_fs_files_new(void)
{
	struct remote_fs_files *s = calloc(1, sizeof(*s));
	struct stat st;

	if (s && !stat("/", &st))
		s->root = make_dev(major(st.st_dev), minor(st.st_dev));
	return s;
}

void remote_fs_files_free(struct remote_fs_files *s)
{
	free(s);
}

static bool type_is_served(const char *type)
{
	static const char *const types[] = { "fuse", "nfs",  "cifs", "smb3",
					     "9p",   "ceph", "afs",  "lustre" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strncmp(type, types[i], strlen(types[i])))
			return true;
	return false;
}

/* "36 35 98:0 /root /mountpoint options tags... - type source options" */
static bool line_says(const char *line, uint64_t dev, bool *is_served)
{
	unsigned maj, min;
	const char *type;

	if (sscanf(line, "%*u %*u %u:%u ", &maj, &min) != 2 || make_dev(maj, min) != dev)
		return false;
	type = strstr(line, " - ");
	*is_served = !type || type_is_served(type + 3);
	return true;
}

/* false: dev is not mounted in the mount namespace of pid. */
static bool look_up(pid_t pid, uint64_t dev, bool *is_served)
{
	char path[64], *text, *line, *next;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	if (io_read_file(path, &text, MAX_MOUNTINFO) < 0)
		return false;
	for (line = text; *line && !found; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		found = line_says(line, dev, is_served);
	}
	free(text);
	return found;
}

static struct device *device_of(struct remote_fs_files *s, pid_t pid, uint64_t dev)
{
	struct device *d = &s->devices[hash_u64(3, dev) & (DEVICES - 1)];
	uint64_t now = now_ns();

	if (d->dev == dev && d->until_ns >= now)
		return d;
	*d = (struct device){ .dev = dev, .until_ns = now + KNOWN_NS, .is_served = true };
	if (!look_up(pid, dev, &d->is_served) && !look_up(getpid(), dev, &d->is_served))
		d->until_ns = now + UNKNOWN_NS;
	return d;
}

bool remote_fs_files_has(struct remote_fs_files *s, pid_t pid, uint64_t dev)
{
	return dev != s->root && device_of(s, pid, dev)->is_served;
}

/* ---- in the child ---- */

struct message {			/* one after each chunk, and one at the end */
	int32_t status;			/* 1 more is to come, 0 all is there, -errno */
	struct stat st;
};

static void tell(int pipe, struct message *m, int status)
{
	m->status = status;
	if (write(pipe, m, sizeof(*m)) != sizeof(*m))
		_exit(1);
}

static int copy_file(int from, int to, int pipe, struct message *m)
{
	static char chunk[CHUNK_BYTES];
	uint64_t done = 0;
	ssize_t n;

	if (fstat(from, &m->st))
		return -errno;
	if (m->st.st_size > MAX_BYTES)
		return -EFBIG;
	while ((n = io_pread(from, chunk, sizeof(chunk), done)) > 0) {
		if (!done && (n < SELFMAG || memcmp(chunk, ELFMAG, SELFMAG)))
			return -ENOEXEC;
		if (done + (uint64_t)n > MAX_BYTES)
			return -EFBIG;
		if (io_write(to, chunk, (size_t)n, NULL))
			return -EIO;
		done += (uint64_t)n;
		tell(pipe, m, 1);
	}
	return (int)n;
}

static void child_main(pid_t pid, const struct proc_map *map)
{
	enum { COPY = 3, PIPE = 4 };
	struct message m = { 0 };
	int fd = procfs_open_mapped(pid, map->start, map->end, map->path, map->ino);

	tell(PIPE, &m, fd < 0 ? fd : copy_file(fd, COPY, PIPE, &m));
	_exit(0);
}

/* ---- in the parent ---- */

static int wait_for_copy(int pipe, struct stat *st)
{
	struct pollfd pfd = { .fd = pipe, .events = POLLIN };
	uint64_t until = now_ns() + FILE_MS * NSEC_PER_MSEC;
	struct message m;

	do {
		if (poll(&pfd, 1, CHUNK_MS) <= 0 || now_ns() > until)
			return -ETIMEDOUT;
		if (read(pipe, &m, sizeof(m)) != sizeof(m))
			return -EIO;
		*st = m.st;
	} while (m.status > 0);
	return m.status;
}

static int copy_by_child(pid_t pid, const struct proc_map *map, int copy, struct stat *st)
{
	int pipes[2], fds[2], err;
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	fds[0] = copy;
	fds[1] = pipes[1];
	child = helper_fork(fds, 2);
	if (!child)
		child_main(pid, map);
	close(pipes[1]);
	err = child < 0 ? (int)child : wait_for_copy(pipes[0], st);
	close(pipes[0]);
	helper_end(child, err == -ETIMEDOUT);
	return err;
}

int remote_fs_files_open(struct remote_fs_files *s, pid_t pid, const struct proc_map *map,
			 struct stat *st)
{
	struct device *d = device_of(s, pid, map->dev);
	int copy, err;

	if (d->is_silent)
		return -ETIMEDOUT;
	copy = memfd_create("probee", MFD_CLOEXEC);
	if (copy < 0)
		return -errno;
	err = copy_by_child(pid, map, copy, st);
	if (!err)
		return copy;
	close(copy);
	if (err == -ETIMEDOUT) {
		d->is_silent = true;
		d->until_ns = now_ns() + 6 * KNOWN_NS;
		note("process %d maps %s, and the server of that file system does not answer: its "
		     "files are left alone",
		     pid, map->path);
	}
	return err;
}
