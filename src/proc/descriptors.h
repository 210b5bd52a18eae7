/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc says of the descriptors of a thread. Nothing here opens the file behind a descriptor
 * or asks for its attributes, so no file server can delay it. 0 or -errno, without a message: a
 * thread may end or close its files at any moment.
 */
#pragma once

#include <stdint.h>

#define DESCRIPTOR_PATH_MAX 4096

/* The path, or "pipe:[4711]" and the like. The bytes are foreign; they end with NUL. */
int descriptor_path(uint32_t tgid, uint32_t tid, uint32_t fd, char buf[DESCRIPTOR_PATH_MAX]);
/* The number of its inode as the kernel has it, which stat() may show otherwise. */
int descriptor_inode(uint32_t tgid, uint32_t tid, uint32_t fd, uint64_t *inode);
/* The number of its mount, as in mountinfo. */
int descriptor_mount(uint32_t tgid, uint32_t tid, uint32_t fd, uint32_t *mount);
/* The descriptor with which an epoll instance watches a file with this inode. */
int descriptor_watched(uint32_t tgid, uint32_t tid, uint32_t epoll, uint64_t inode, uint32_t *fd);
