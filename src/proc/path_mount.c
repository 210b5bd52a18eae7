/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/path_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/proc/descriptors.h"

#define TRIES 32

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

static bool link_text(pid_t pid, const char *name, char *buf, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", pid, name);
	n = readlink(link, buf, size - 1);
	if (n < 0)
		return false;
	buf[n] = 0;
	return true;
}

/* Whether a path means the same file for the process as for this one. */
static bool has_own_root(pid_t pid)
{
	char own[64], other[64], root[64];

	return link_text(getpid(), "ns/mnt", own, sizeof(own)) &&
	       link_text(pid, "ns/mnt", other, sizeof(other)) && !strcmp(own, other) &&
	       link_text(pid, "root", root, sizeof(root)) && !strcmp(root, "/");
}

/* A look fails, too, while another process mounts or renames something anywhere. */
static int open_cached(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED };
	int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
		if (fd < 0 && errno != EAGAIN)
			break;
	}
	return fd;
}

/* What is mounted where the descriptor is, or where the rest of the path leads to from there. */
static bool text_of(pid_t pid, int fd, const char *rest, char text[MOUNT_TEXT_MAX])
{
	char whole[2 * DESCRIPTOR_PATH_MAX], path[DESCRIPTOR_PATH_MAX];
	uint32_t id;

	if (!strchr(rest + (*rest == '/'), '/'))
		return !descriptor_mount((uint32_t)getpid(), (uint32_t)gettid(), (uint32_t)fd,
					 &id) && mounts_text_of_id(pid, id, text);
	if (descriptor_path((uint32_t)getpid(), (uint32_t)gettid(), (uint32_t)fd, path))
		return false;
	snprintf(whole, sizeof(whole), "%s%s", strcmp(path, "/") ? path : "", rest);
	return mounts_text_of_path(pid, whole, text);
}

bool path_mount(pid_t pid, const char *path, char text[MOUNT_TEXT_MAX])
{
	char begin[DESCRIPTOR_PATH_MAX];
	size_t len = strlen(path);

	if (!has_own_root(pid) || len >= sizeof(begin))
		return mounts_text_of_path(pid, path, text);
	memcpy(begin, path, len + 1);
	while (len) {
		int fd = open_cached(begin);

		if (fd >= 0) {
			bool known = text_of(pid, fd, path + len, text);

			close(fd);
			return known;
		}
		while (len && begin[len - 1] != '/')
			len--;
		/* The root itself has no name before its slash. */
		len -= len > 1 ? 1 : 0;
		if (len == 1)
			break;
		begin[len] = 0;
	}
	return mounts_text_of_path(pid, path, text);
}
