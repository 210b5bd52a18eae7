/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/gzip_stream.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define BUFFER_BYTES (64 << 10)
#define HEADER_BYTES 10			/* before the comment, as there is no name */
#define GZIP_WINDOW (15 + 16)		/* 32 KiB, and a header of gzip */
#define LEVEL 2				/* under half the time of level 6, 12 % larger */
#define MEMORY 8

static const char comment[] = "probee";

static void write_out(struct gzip_stream *g, const void *data, size_t len)
{
	errno = 0;
	if (!g->err && fwrite(data, 1, len, g->out) != len)
		g->err = errno ? -errno : -EIO;
}

static void compress_bytes(struct gzip_stream *g, const char *bytes, size_t len, int flush)
{
	unsigned char buf[16 << 10];

	g->z.next_in = (unsigned char *)(uintptr_t)bytes;
	g->z.avail_in = (unsigned)len;
	do {
		g->z.next_out = buf;
		g->z.avail_out = sizeof(buf);
		deflate(&g->z, flush);
		write_out(g, buf, sizeof(buf) - g->z.avail_out);
	} while (!g->z.avail_out && !g->err);
}

/* Writes nothing more once it has failed. */
static ssize_t take(void *gzip, const char *bytes, size_t len)
{
	struct gzip_stream *g = gzip;
	size_t done = 0;

	for (; done < len && !g->err; done += BUFFER_BYTES)
		compress_bytes(g, bytes + done, len - done < BUFFER_BYTES ? len - done
									  : BUFFER_BYTES,
			       Z_NO_FLUSH);
	errno = -g->err;
	return g->err ? -1 : (ssize_t)len;
}

int gzip_stream_open(struct gzip_stream *g, FILE *out)
{
	const cookie_io_functions_t io = { .write = take };

	memset(g, 0, sizeof(*g));
	g->out = out;
	if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	g->header.os = 255;	/* unknown */
	g->header.comment = (unsigned char *)(uintptr_t)comment;
	deflateSetHeader(&g->z, &g->header);
	g->stream = fopencookie(g, "w", io);
	if (g->stream) {
		setvbuf(g->stream, NULL, _IOFBF, BUFFER_BYTES);
		return 0;
	}
	deflateEnd(&g->z);
	return -ENOMEM;
}

int gzip_stream_close(struct gzip_stream *g)
{
	if (!g->stream)
		return g->err;
	if (fclose(g->stream) && !g->err)
		g->err = errno ? -errno : -EIO;
	g->stream = NULL;
	if (!g->err)
		compress_bytes(g, NULL, 0, Z_FINISH);
	deflateEnd(&g->z);
	return g->err;
}

bool gzip_stream_made(const void *head, size_t len)
{
	const unsigned char *p = head;
	const unsigned char has_comment = 0x10;

	return len >= HEADER_BYTES + sizeof(comment) && p[0] == 0x1f && p[1] == 0x8b &&
	       p[3] == has_comment && !memcmp(p + HEADER_BYTES, comment, sizeof(comment));
}
