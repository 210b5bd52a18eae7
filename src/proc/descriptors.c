/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INFO_MAX 4096

int descriptor_path(uint32_t tgid, uint32_t tid, uint32_t fd, char buf[DESCRIPTOR_PATH_MAX])
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%u/task/%u/fd/%u", tgid, tid, fd);
	n = readlink(name, buf, DESCRIPTOR_PATH_MAX);
	if (n < 0)
		return -errno;
	if (n == DESCRIPTOR_PATH_MAX)
		return -ENAMETOOLONG;
	buf[n] = 0;
	return 0;
}

/* The beginning of its fdinfo, ended by NUL. */
static int read_info(uint32_t tgid, uint32_t tid, uint32_t fd, char buf[INFO_MAX])
{
	char name[64];
	ssize_t n;
	int info;

	snprintf(name, sizeof(name), "/proc/%u/task/%u/fdinfo/%u", tgid, tid, fd);
	info = open(name, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return -errno;
	n = read(info, buf, INFO_MAX - 1);
	if (n < 0)
		n = -errno;
	close(info);
	if (n < 0)
		return (int)n;
	buf[n] = 0;
	return 0;
}

int descriptor_inode(uint32_t tgid, uint32_t tid, uint32_t fd, uint64_t *inode)
{
	char info[INFO_MAX];
	const char *line;
	int err = read_info(tgid, tid, fd, info);

	if (err)
		return err;
	line = strstr(info, "\nino:");
	return line && sscanf(line, "\nino: %" SCNu64, inode) == 1 ? 0 : -ENODATA;
}

int descriptor_mount(uint32_t tgid, uint32_t tid, uint32_t fd, uint32_t *mount)
{
	char info[INFO_MAX];
	const char *line;
	int err = read_info(tgid, tid, fd, info);

	if (err)
		return err;
	line = strstr(info, "\nmnt_id:");
	return line && sscanf(line, "\nmnt_id: %" SCNu32, mount) == 1 ? 0 : -ENODATA;
}

int descriptor_watched(uint32_t tgid, uint32_t tid, uint32_t epoll, uint64_t inode, uint32_t *fd)
{
	char info[INFO_MAX];
	uint64_t ino;
	int err = read_info(tgid, tid, epoll, info);

	for (const char *p = info; !err && (p = strstr(p, "\ntfd:")); p++)
		if (sscanf(p, "\ntfd: %u events: %*x data: %*x pos:%*d ino:%" SCNx64, fd, &ino) ==
			    2 && ino == inode)
			return 0;
	return err ? err : -ENOENT;
}
