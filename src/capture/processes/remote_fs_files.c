/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/remote_fs_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/hash_index.h"
#include "src/foreign/file_opener.h"
#include "src/proc/mounts.h"
#include "src/proc/procfs.h"

#define DEVICES 64			/* a power of two */
#define UNKNOWN_NS (100 * NSEC_PER_MSEC)
#define KNOWN_NS (10 * NSEC_PER_SEC)	/* device numbers are used again after umount */
/*
 * A user can mount 100,000 file systems and map a file of each. Reading so long a list takes 0.2 s,
 * so this is how long all lists together may take within KNOWN_NS.
 */
#define LISTS_NS (500 * NSEC_PER_MSEC)

struct device {
	uint64_t dev, until_ns;
	bool is_served, is_silent;
};

struct remote_fs_files {
	struct file_opener *opener;	/* borrowed */
	uint64_t root, memory;		/* devices of /, and of memfd_create(2) */
	uint64_t lists_since_ns, lists_ns;	/* time that the lists of mounts took since then */
	struct device devices[DEVICES];
};

/* Device numbers have the form of struct proc_map. */
static uint64_t make_dev(unsigned major, unsigned minor)
{
	return (uint64_t)major << 20 | minor;
}

struct remote_fs_files *remote_fs_files_new(struct file_opener *opener)
{
	struct remote_fs_files *s = calloc(1, sizeof(*s));
	int memory = memfd_create("probee", MFD_CLOEXEC);
	struct stat st;

	if (s)
		s->opener = opener;
	if (s && !stat("/", &st))
		s->root = make_dev(major(st.st_dev), minor(st.st_dev));
	if (s && memory >= 0 && !fstat(memory, &st))
		s->memory = make_dev(major(st.st_dev), minor(st.st_dev));
	if (memory >= 0)
		close(memory);
	return s;
}

void remote_fs_files_free(struct remote_fs_files *s)
{
	free(s);
}

/*
 * File systems that are not in this list have a server, or are unknown. overlayfs is in the list,
 * although it may lie on a file system with a server, because all programs of containers are on an
 * overlayfs. Its files are read where they are. If such a read hangs, the user of the process pays
 * for the time (wait_budget.h).
 */
bool remote_fs_files_type_is_local(const char *type)
{
	static const char *const types[] = {
		"ext4",	    "xfs",     "btrfs",	   "overlay", "tmpfs",	"ext3",	    "ext2",
		"zfs",	    "f2fs",    "squashfs", "erofs",   "vfat",	"exfat",    "ntfs3",
		"iso9660",  "udf",     "bcachefs", "rootfs",  "ramfs",	"devtmpfs", "hugetlbfs",
		"reiserfs", "jfs",     "nilfs2",   "hfs",     "hfsplus", "cramfs",  "romfs",
		"ubifs",    "jffs2",   "minix",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

/* false: dev is not mounted in the mount namespace of pid. */
static bool look_up(pid_t pid, uint64_t dev, bool *is_served)
{
	char type[MOUNT_TYPE_MAX];

	if (!mounts_find_type(pid, dev, type))
		return false;
	*is_served = !remote_fs_files_type_is_local(type);
	return true;
}

/* Whether lists of mounts may still be read in these KNOWN_NS. */
static bool has_time(struct remote_fs_files *s, uint64_t now)
{
	if (now - s->lists_since_ns >= KNOWN_NS) {
		s->lists_since_ns = now;
		s->lists_ns = 0;
	}
	return s->lists_ns < LISTS_NS;
}

static struct device *device_of(struct remote_fs_files *s, pid_t pid, uint64_t dev)
{
	struct device *d = &s->devices[hash_u64(3, dev) & (DEVICES - 1)];
	uint64_t now = now_ns();

	if (d->dev == dev && d->until_ns >= now)
		return d;
	*d = (struct device){ .dev = dev, .until_ns = now + KNOWN_NS, .is_served = true };
	if (!has_time(s, now) ||
	    (!look_up(pid, dev, &d->is_served) && !look_up(getpid(), dev, &d->is_served)))
		d->until_ns = now + UNKNOWN_NS;
	s->lists_ns += now_ns() - now;
	return d;
}

bool remote_fs_files_has(struct remote_fs_files *s, pid_t pid, uint64_t dev)
{
	return dev != s->root && dev != s->memory && device_of(s, pid, dev)->is_served;
}

int remote_fs_files_open(struct remote_fs_files *s, pid_t pid, const struct proc_map *map,
			 struct stat *st)
{
	struct device *d = device_of(s, pid, map->dev);
	int fd;

	if (d->is_silent)
		return -ETIMEDOUT;
	fd = file_opener_copy(s->opener, pid, map, st);
	if (fd == -ETIMEDOUT) {
		d->is_silent = true;
		d->until_ns = now_ns() + 6 * KNOWN_NS;
		note_kept("process %d maps %s, and the server of that file system does not answer: "
			  "its files are left alone", pid, map->path);
	}
	return fd;
}
