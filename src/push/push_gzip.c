/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_gzip.h"

#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16)		/* 32 KiB, and a header of gzip */
#define LEVEL 6
#define MEMORY 9

uint8_t *push_gzip(const void *bytes, size_t len, size_t *out_len)
{
	z_stream z = { 0 };
	uint8_t *out = NULL;
	uLong most;
	int err;

	if (len > UINT32_MAX / 2 ||
	    deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	most = deflateBound(&z, (uLong)len);
	out = malloc(most);
	if (!out)
		goto end;
	z.next_in = (unsigned char *)(uintptr_t)bytes;
	z.avail_in = (unsigned)len;
	z.next_out = out;
	z.avail_out = (unsigned)most;
	err = deflate(&z, Z_FINISH);
	*out_len = most - z.avail_out;
	if (err != Z_STREAM_END) {
		free(out);
		out = NULL;
	}
end:
	deflateEnd(&z);
	return out;
}
