/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapped files of file systems that are served by a program or another machine (FUSE, NFS, ...). A
 * process that opens or reads such a file may wait for ever, and any user may run such a server. So
 * a helper process copies the file into memory (file_opener.h), and we wait a moment for it. If the
 * server answers, its files are like others. A server that does not answer costs 0.5 s once, and
 * then its files stay unread.
 *
 *	remote_fs_files_new(opener)
 *	remote_fs_files_has(s, pid, dev)	true: dev, of a mapping of pid, is a served file
 *						system
 *	remote_fs_files_open(s, pid, map, &st)	a copy of the file, and fstat() of the original
 *	remote_fs_files_free(s)
 *
 * The type of a file system is read from /proc/PID/mountinfo, because asking the file system itself
 * would be asking the server. A type counts as served unless it is known to be local. A device that
 * is not listed there (unmounted meanwhile) counts as served, and so do new ones while reading the
 * lists takes too much time. The devices of our own root directory and of memfd_create(2) count as
 * not served.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct file_opener;
struct remote_fs_files;
struct proc_map;

struct remote_fs_files *remote_fs_files_new(struct file_opener *opener); /* NULL: no memory */
void remote_fs_files_free(struct remote_fs_files *s);		/* NULL is fine */

bool remote_fs_files_has(struct remote_fs_files *s, pid_t pid, uint64_t dev);

/* Whether file systems of this type are the kernel's own, on memory or on a disk. */
bool remote_fs_files_type_is_local(const char *type);

/*
 * Returns an fd, which the caller closes. -ETIMEDOUT: the server does not answer; -ENOEXEC: it is
 * no ELF file; -EFBIG: it is larger than 128 MiB; or another -errno.
 */
int remote_fs_files_open(struct remote_fs_files *s, pid_t pid, const struct proc_map *map,
			 struct stat *st);
