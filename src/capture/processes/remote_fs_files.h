/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapped files of file systems that are served by somebody (FUSE, NFS, ...): who opens or reads one
 * may wait for ever, and anybody may run such a server. A child copies them into memory, and we
 * wait a moment for the child: while a server answers its files are like others; one that does not
 * costs 0.5 s, once, and then its files stay unread.
 *
 *	remote_fs_files_new()
 *	remote_fs_files_has(s, pid, dev)		the file of a mapping of pid is such a one
 *	remote_fs_files_open(s, pid, map, &st)	a copy and what fstat() says of the original
 *	remote_fs_files_free(s)
 *
 * What file system a device has is read from /proc/PID/mountinfo: asking the file system itself
 * would be asking the server. Where that does not tell (unmounted meanwhile, memfd) it counts as
 * served. Our own root counts as not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct remote_fs_files;
struct proc_map;

struct remote_fs_files *remote_fs_files_new(void);		/* NULL: no memory */
void remote_fs_files_free(struct remote_fs_files *s);		/* NULL is fine */

bool remote_fs_files_has(struct remote_fs_files *s, pid_t pid, uint64_t dev);

/*
 * An fd, the caller's. -ETIMEDOUT: the server does not answer; -ENOEXEC: no ELF file; -EFBIG: above
 * 128 MiB; or -errno.
 */
int remote_fs_files_open(struct remote_fs_files *s, pid_t pid, const struct proc_map *map,
			 struct stat *st);
