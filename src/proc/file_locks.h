/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes hold the file locks that other processes wait for, from /proc/locks. There a
 * waiting request stands behind the lock that is in its way, marked with "->"
 * (Documentation/filesystems/proc.rst). The kernel writes the file from its own memory, so no
 * process can delay the reading.
 *
 *	file_locks_read(&l, NULL)		the waits of this moment
 *	file_locks_holder(&l, tgid, ino)	the process that tgid waits for at that file, or 0
 *	file_locks_release(&l)
 *
 * The holder is the process that took the lock: it may have passed the open file on, or have ended.
 * The kernel names no process for locks of open files (F_OFD_SETLKW).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct file_lock_wait {
	uint32_t waiter, holder;	/* tgids */
	uint64_t inode;
};

struct file_locks {
	struct file_lock_wait *v;
	size_t nr, cap;
};

/* Replaces what l held. path NULL: /proc/locks. 0 or -errno. */
int file_locks_read(struct file_locks *l, const char *path);
uint32_t file_locks_holder(const struct file_locks *l, uint32_t tgid, uint64_t inode);
void file_locks_release(struct file_locks *l);
