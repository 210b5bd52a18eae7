/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole reads and writes, and files from /proc. All return 0 or a positive count, or -errno; all
 * are silent.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads up to len bytes at offset; the count is short only at the end of the file. */
ssize_t io_pread(int fd, void *buf, size_t len, uint64_t offset);

/* Writes all of it, or fails; *done (may be NULL) says how much was written either way. */
int io_write(int fd, const void *buf, size_t len, size_t *done);

/*
 * Whole content of a small file (/proc, /sys), at most max bytes, plus a NUL: caller frees *out.
 * Returns its length.
 */
ssize_t io_read_file(const char *path, char **out, size_t max);
