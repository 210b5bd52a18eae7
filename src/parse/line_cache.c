/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/line_cache.h"

#include <errno.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/debug_info/debug_cache.h"

int line_cache_open(struct cache_folder *c, const struct cache_key *key)
{
	return cache_folder_open(c, key, CACHE_LINES);
}

/* The head is written last, so that an end on the way leaves the file as it was. */
static int append(int fd, const void *v, size_t len)
{
	struct cache_head h = { 0 };
	ssize_t n = io_pread(fd, &h, sizeof(h), 0);

	if (n < (ssize_t)sizeof(h) || h.magic != CACHE_MAGIC || h.end < sizeof(h) || h.end % 8)
		h = (struct cache_head){ CACHE_MAGIC, sizeof(h) };
	if (h.end + len > LINE_CACHE_FILE_BYTES ||
	    pwrite(fd, v, len, (off_t)h.end) != (ssize_t)len)
		return -EIO;
	h.end += len;
	return pwrite(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) ? 0 : -EIO;
}

void line_cache_append(struct cache_folder *c, const struct cache_key *key, const void *v,
		       size_t len)
{
	if (len && !(len % 8))
		cache_folder_write(c, key, CACHE_LINES, append, v, len);
}
