/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/packed_output.h"

#include <string.h>

static bool ends_in(const char *file, const char *suffix)
{
	size_t len = file ? strlen(file) : 0, n = strlen(suffix);

	return len > n && !strcmp(file + len - n, suffix);
}

bool packed_output_is(const char *file)
{
	return ends_in(file, ".gz") || ends_in(file, ".zst");
}

int packed_output_open(struct packed_output *p, const char *file, FILE *out)
{
	int err = 0;

	memset(p, 0, sizeof(*p));
	p->stream = out;
	if (ends_in(file, ".gz"))
		err = gzip_stream_open(&p->gzip, out);
	else if (ends_in(file, ".zst"))
		err = zstd_stream_open(&p->zstd, out);
	if (!err && p->gzip.stream)
		p->stream = p->gzip.stream;
	if (!err && p->zstd.stream)
		p->stream = p->zstd.stream;
	return err;
}

int packed_output_close(struct packed_output *p)
{
	if (p->gzip.stream)
		return gzip_stream_close(&p->gzip);
	return p->zstd.stream ? zstd_stream_close(&p->zstd) : 0;
}

bool packed_output_made(const void *head, size_t len)
{
	return gzip_stream_made(head, len) || zstd_stream_made(head, len);
}
