/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files whose reader may have to wait for ever: /proc/PID/maps of a process whose memory map
 * stays locked (up to Linux 6.16; ps hangs there, too). A thread of its own reads. If it does not
 * come back in time it is left behind, with what it holds, until the end of the process, and
 * another one takes its place.
 *
 *	timed_reader_new(io_read_file, timeout_ms)
 *	timed_reader_get(r, path, max, &text)	the length; caller frees the text (NUL behind it);
 *						-ETIMEDOUT; -EBUSY: too many threads have been left
 *						behind already; or -errno
 *	timed_reader_free(r)
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct timed_reader;

/* as io_read_file() */
typedef ssize_t (*read_file_fn)(const char *path, char **out, size_t max);

/* NULL: no memory or no thread */
struct timed_reader *timed_reader_new(read_file_fn read, int timeout_ms);
ssize_t timed_reader_get(struct timed_reader *r, const char *path, size_t max, char **text);
void timed_reader_free(struct timed_reader *r);			/* NULL is fine */
