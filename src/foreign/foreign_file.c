/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/proc/own_maps.h"
#include "src/proc/procfs.h"

/*
 * File systems of the kernel, whose regular files are none: reading them may take away what
 * somebody else waits for (trace_pipe), or change the state of a device.
 */
static bool is_of_the_kernel(int fd)
{
	static const unsigned types[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,	   DEBUGFS_MAGIC,      TRACEFS_MAGIC,
		SECURITYFS_MAGIC, EFIVARFS_MAGIC,  CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		BPF_FS_MAGIC,	  PSTOREFS_MAGIC,  BINFMTFS_MAGIC,     RDTGROUP_SUPER_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((unsigned)fs.f_type == types[i])
			return true;
	return false;
}

static bool is_on(int fd, unsigned type)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (unsigned)fs.f_type == type;
}

/* The form of struct proc_map. */
static uint64_t map_dev(dev_t dev)
{
	return (uint64_t)major(dev) << 20 | minor(dev);
}

static bool owner_is_wanted(const struct foreign_want *want, uid_t uid)
{
	for (size_t i = 0; i < want->nr_owners; i++)
		if (want->owners[i] == uid)
			return true;
	return !want->owners || (!uid && !want->only_owners);
}

/*
 * A mapped file of btrfs or overlayfs may have other numbers in a list of mappings than fstat()
 * gives, and whoever makes an overlayfs chooses the latter. So the kernel is asked how a mapping of
 * this file would look in such a list.
 */
static bool mapping_has_numbers(int fd, const struct foreign_want *want)
{
	void *addr = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	bool has;

	if (addr == MAP_FAILED)
		return false;
	has = own_maps_has(addr, want->dev, want->ino);
	munmap(addr, 1);
	return has;
}

static bool numbers_are_wanted(const struct foreign_want *want, const struct stat *st)
{
	return !want->ino || (st->st_ino == want->ino && map_dev(st->st_dev) == want->dev);
}

/* 0; -EAGAIN: only mapping_has_numbers() knows; or another -errno. */
static int check(int fd, const struct foreign_want *want, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode) || is_of_the_kernel(fd))
		return -EACCES;
	if (!owner_is_wanted(want, st->st_uid) ||
	    (want->is_public && !st->st_uid && !(st->st_mode & S_IROTH)))
		return -EACCES;
	if (want->on && st->st_dev != want->on)
		return -EACCES;
	if (want->max_links && st->st_nlink > want->max_links)
		return -EACCES;
	if (numbers_are_wanted(want, st))
		return 0;
	return is_on(fd, BTRFS_SUPER_MAGIC) || is_on(fd, OVERLAYFS_SUPER_MAGIC) ? -EAGAIN : -ESTALE;
}

/* 0: fd, which is open for reading, has the numbers after all, or it may have others. */
static int check_numbers(int fd, const struct foreign_want *want)
{
	if (mapping_has_numbers(fd, want) || (want->may_differ && is_on(fd, OVERLAYFS_SUPER_MAGIC)))
		return 0;
	return -ESTALE;
}

/* Opens for reading what the descriptor path stands for, if it is what is wanted. Closes path. */
static int open_checked(int path, const struct foreign_want *want, struct stat *st)
{
	char self[40];
	int err, fd;

	if (path < 0)
		return path;
	err = check(path, want, st);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
	fd = err && err != -EAGAIN ? err : open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		fd = -errno;
	close(path);
	err = fd >= 0 && err ? check_numbers(fd, want) : 0;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int foreign_look_up(int root, const char *path, const struct foreign_want *want)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (want->links == FOREIGN_NO_LINK ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS |
			   (want->links == FOREIGN_NO_LINKS ? RESOLVE_NO_SYMLINKS : 0) |
			   (want->same_mount ? RESOLVE_NO_XDEV : 0),
	};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int foreign_open(int root, const char *path, const struct foreign_want *want, struct stat *st)
{
	return root < 0 ? root : open_checked(foreign_look_up(root, path, want), want, st);
}

int foreign_root(pid_t pid)
{
	char path[40] = "/";
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/root", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opens path beneath the root of pid, which may have ended. */
static int open_beneath(pid_t pid, const char *path, const struct foreign_want *want,
			struct stat *st)
{
	int root = foreign_root(pid);
	int fd = foreign_open(root, path, want, st);

	if (root >= 0)
		close(root);
	return fd;
}

/* A link of /proc that leads to the file itself, whatever its name is by now. */
static int open_through(const char *link, const struct foreign_want *want, struct stat *st)
{
	int fd = open(link, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : open_checked(fd, want, st);
}

static int open_map_file(pid_t pid, const struct proc_map *map, const struct foreign_want *want,
			 struct stat *st)
{
	char link[64];

	if (!map->ino)
		return -ENOENT;		/* anonymous memory */
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start,
		 map->end);
	return open_through(link, want, st);
}

int foreign_open_mapped(pid_t pid, const struct proc_map *map, struct stat *st)
{
	const struct foreign_want want = { .dev = map->dev, .ino = map->ino };
	int fd = open_map_file(pid, map, &want, st);
	char link[64];

	if (fd >= 0 || !map->ino || map->path[0] != '/')
		return fd;
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	fd = open_through(link, &want, st);
	if (fd < 0)
		fd = open_beneath(pid, map->path, &want, st);
	return fd >= 0 ? fd : open_beneath(0, map->path, &want, st);
}

int foreign_open_mapped_now(pid_t pid, const struct proc_map *map, struct stat *st)
{
	const struct foreign_want want = { .dev = map->dev, .ino = map->ino, .may_differ = true };

	return open_map_file(pid, map, &want, st);
}

/* ---- maps of generated code ---- */

/* /tmp may be a file system of its own. */
static int open_tmp(const struct process_tmp *tmp)
{
	static const struct foreign_want any;

	if (tmp->dir < 0)
		return -ENOENT;
	return tmp->is_root ? foreign_look_up(tmp->dir, "tmp", &any)
			    : fcntl(tmp->dir, F_DUPFD_CLOEXEC, 0);
}

/*
 * Whoever has a mount namespace of his own can mount any file on another one, whatever he may do
 * with it otherwise. So the name must lead to a file of the file system that /tmp is on.
 */
int foreign_open_perf_map(const struct process_tmp *tmp, struct stat *st)
{
	const uid_t owners[] = { tmp->uid };
	const struct foreign_want want = { .owners = owners, .nr_owners = 1, .max_links = 1,
					   .links = FOREIGN_NO_LINK, .same_mount = true };
	int dir = open_tmp(tmp), fd;
	char path[64];

	snprintf(path, sizeof(path), "perf-%u.map", tmp->ns_tgid);
	fd = foreign_open(dir, path, &want, st);
	if (dir >= 0)
		close(dir);
	if (fd == -ELOOP || fd == -EXDEV)
		return -EACCES;
	return fd >= 0 || fd == -ENOENT || fd == -EACCES ? fd : -EIO;
}
