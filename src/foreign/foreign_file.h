/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way in which probee opens files that other users may have made: programs and libraries,
 * their debug files, maps of generated code.
 *
 * The problem. The name of such a file comes from a process or from a trace, and whoever runs the
 * process decides what is behind the name: a device whose open() already does something (a watchdog
 * reboots the machine), a FIFO that blocks, a link to a file that only root may read. Looking first
 * and opening then does not help if the name is used twice, because it can change in between.
 *
 * The idea. The name is used once, to get a descriptor that stands for the file without opening it
 * (O_PATH, open(2)). All questions are asked of that descriptor, and only what passes is opened,
 * through the descriptor and not by its name:
 *
 *	1. root		a directory that the name may not leave: / of the process (openat2(2):
 *			RESOLVE_IN_ROOT, no links of /proc)
 *	2. O_PATH	the file, without its driver or its server being asked for more than a look
 *	3. fstat()	a regular file, and not one of /proc or /sys? device and inode as wanted?
 *			owner? number of links?
 *	4. open		/proc/self/fd/N, read-only, without blocking
 *
 * Example: a library's .debug directory was replaced by a link to /dev, and its debug link says
 * "ptmx". Step 2 fails with ELOOP, because no links are followed beside a binary. Had it been a
 * hard link, step 3 would have said that a device is no regular file. In no case the device is
 * opened.
 *
 * Limits. Any step may block for ever on a file system that is served by a program or a machine, so
 * the recorder has a helper process do this (file_opener.h). The file may be written to or
 * shortened while it is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct proc_map;
struct process_tmp;

/* What the file must be, besides a regular file. */
struct foreign_want {
	uint64_t dev, ino;		/* as in struct proc_map; ino 0: any file */
	bool may_differ;		/* on overlayfs: the numbers */
	unsigned links;			/* FOREIGN_... */
	const uid_t *owners;		/* one of these or root; NULL: any */
	size_t nr_owners;
	nlink_t max_links;		/* names that the file may have; 0: any number */
	dev_t on;			/* st_dev that it must have; 0: any */
	bool same_mount;		/* nothing may be mounted on the way from root, or there */
	bool is_public;			/* a file of root's must be readable for all */
	bool only_owners;		/* not root, unless root is one of them */
};

enum {
	FOREIGN_LINKS = 0,		/* symbolic links are followed inside of root */
	FOREIGN_NO_LINK = 1,		/* not in the last part of the path */
	FOREIGN_NO_LINKS = 2,		/* in no part of the path */
};

/*
 * Opens path beneath the directory root. Returns the fd and sets *st; or -errno: -ESTALE is another
 * file than is wanted, -EACCES one that must not be used.
 */
int foreign_open(int root, const char *path, const struct foreign_want *want, struct stat *st);

/*
 * The first step of it: an O_PATH descriptor of what path leads to, of which nothing is known yet;
 * or -errno. Only links and same_mount count of want.
 */
int foreign_look_up(int root, const char *path, const struct foreign_want *want);

/* The root directory of a process; pid 0: of this one. The fd or -errno. */
int foreign_root(pid_t pid);

/*
 * Opens the file behind a mapping of a process: through /proc/PID/map_files, which leads to the
 * file itself; else as the program of the process; else by its path beneath the root of the process
 * or of this one. It has the device and the inode of the mapping.
 */
int foreign_open_mapped(pid_t pid, const struct proc_map *map, struct stat *st);

/*
 * Opens what is mapped there now, if that is on overlayfs, whatever numbers it has. Linux 6.8 to
 * 6.17 tell in events of the numbers of the file beneath, and foreign_open_mapped() may not find a
 * file that has them. The process may have mapped another file there meanwhile: nobody else must be
 * told that the numbers stand for this file.
 */
int foreign_open_mapped_now(pid_t pid, const struct proc_map *map, struct stat *st);

/*
 * Opens the map of generated code that the process behind tmp has written: a file of its user or of
 * root in its /tmp, with one name only and not mounted there. -ENOENT: there is none; -EACCES: it
 * must not be used.
 */
int foreign_open_perf_map(const struct process_tmp *tmp, struct stat *st);
