/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/zstd_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <zstd.h>

#define BUFFER_BYTES (64 << 10)
#define LEVEL 3

/* The magic number of a skippable frame, its length and its content. */
static const unsigned char mark[] = { 0x50, 0x2a, 0x4d, 0x18, 6, 0, 0, 0,
				      'p',  'r',  'o',	'b',  'e', 'e' };

static void write_out(struct zstd_stream *z, const void *data, size_t len)
{
	errno = 0;
	if (!z->err && fwrite(data, 1, len, z->out) != len)
		z->err = errno ? -errno : -EIO;
}

static void compress_bytes(struct zstd_stream *z, const void *bytes, size_t len,
			   ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { bytes, len, 0 };
	char buf[16 << 10];
	size_t left = 1;

	while (!z->err && (in.pos < in.size || (end == ZSTD_e_end && left))) {
		ZSTD_outBuffer out = { buf, sizeof(buf), 0 };

		left = ZSTD_compressStream2(z->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			z->err = -ENOMEM;
		write_out(z, buf, out.pos);
	}
}

/* Writes nothing more once it has failed. */
static ssize_t take(void *zstd, const char *bytes, size_t len)
{
	struct zstd_stream *z = zstd;

	compress_bytes(z, bytes, len, ZSTD_e_continue);
	errno = -z->err;
	return z->err ? -1 : (ssize_t)len;
}

int zstd_stream_open(struct zstd_stream *z, FILE *out)
{
	const cookie_io_functions_t io = { .write = take };

	*z = (struct zstd_stream){ .out = out, .zstd = ZSTD_createCCtx() };
	if (z->zstd &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_compressionLevel, LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_checksumFlag, 1)))
		z->stream = fopencookie(z, "w", io);
	if (z->stream) {
		setvbuf(z->stream, NULL, _IOFBF, BUFFER_BYTES);
		write_out(z, mark, sizeof(mark));
		return 0;
	}
	ZSTD_freeCCtx(z->zstd);
	return -ENOMEM;
}

int zstd_stream_close(struct zstd_stream *z)
{
	if (!z->stream)
		return z->err;
	if (fclose(z->stream) && !z->err)
		z->err = errno ? -errno : -EIO;
	z->stream = NULL;
	if (!z->err)
		compress_bytes(z, NULL, 0, ZSTD_e_end);
	ZSTD_freeCCtx(z->zstd);
	return z->err;
}

bool zstd_stream_made(const void *head, size_t len)
{
	return len >= sizeof(mark) && !memcmp(head, mark, sizeof(mark));
}
