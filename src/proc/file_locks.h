/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds the file locks that others wait for, by /proc/locks: a waiting request stands behind
 * the lock that is in its way, marked with "->" (Documentation/filesystems/proc.rst). The kernel
 * writes it from its own memory: nobody can delay the reading.
 *
 *	file_locks_read(&l, NULL)		now
 *	file_locks_holder(&l, tgid, ino)	for whom that process waits at that file; 0: not
 *						known
 *	file_locks_release(&l)
 *
 * The holder is the process that took the lock: it may have passed the open file on, or have ended.
 * Locks of open files (F_OFD_SETLKW) name nobody.
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

int file_locks_read(struct file_locks *l, const char *path);	/* NULL: /proc/locks. What was there
								   is replaced. */
uint32_t file_locks_holder(const struct file_locks *l, uint32_t tgid, uint64_t inode);
void file_locks_release(struct file_locks *l);
