/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole reads and writes, and files from /proc. All of these return 0 or a positive count, or
 * -errno, and print nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads up to len bytes at offset; the count is short only at the end of the file. */
ssize_t io_pread(int fd, void *buf, size_t len, uint64_t offset);

/* Writes all, or fails. *done (may be NULL) becomes the number of bytes written either way. */
int io_write(int fd, const void *buf, size_t len, size_t *done);

/*
 * Reads a whole small file (/proc, /sys) of at most max bytes, else -EFBIG. *out gets a NUL at its
 * end, and the caller frees it. Returns the length without the NUL.
 */
ssize_t io_read_file(const char *path, char **out, size_t max);
ssize_t io_read_all(int fd, char **out, size_t max);	/* reads an open file */
