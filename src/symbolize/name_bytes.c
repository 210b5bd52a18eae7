/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/name_bytes.h"

#include <string.h>

#include "src/base/io.h"

#define MAX_LOOK (64u << 20)
#define PIECE 65536

bool name_bytes_hold(const struct name_bytes *n, const char *text)
{
	uint64_t size = n->size < MAX_LOOK ? n->size : MAX_LOOK;
	size_t len = strlen(text), kept = 0;
	char buf[PIECE];

	if (!size)
		return false;		/* offset may lie anywhere */
	if (n->data)
		return memmem(n->data + n->offset, size, text, len);
	for (uint64_t at = 0; at < size;) {
		size_t want = size - at < PIECE - kept ? (size_t)(size - at) : PIECE - kept;
		size_t have;
		ssize_t got = io_pread(n->fd, buf + kept, want, n->offset + at);

		if (got <= 0)
			return false;
		if (memmem(buf, kept + (size_t)got, text, len))
			return true;
		at += (uint64_t)got;
		have = kept + (size_t)got;
		kept = have < len ? have : len - 1;	/* text may lie across two pieces */
		memmove(buf, buf + have - kept, kept);
	}
	return false;
}
