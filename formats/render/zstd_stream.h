/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream that compresses (Zstandard, RFC 8878) what is written to it on to another one. It begins
 * with a skippable frame, which readers leave out, and by which an earlier report is known.
 *
 *	zstd_stream_open(&z, out)	0 or -ENOMEM; z.stream is to be written to
 *	zstd_stream_close(&z)		writes the rest; 0 or -errno. out stays open
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ZSTD_CCtx_s;

struct zstd_stream {
	FILE *stream;
	FILE *out;
	struct ZSTD_CCtx_s *zstd;
	int err;			/* the first one; 0: none */
};

int zstd_stream_open(struct zstd_stream *z, FILE *out);
int zstd_stream_close(struct zstd_stream *z);

/* Whether these first bytes of a file are of a stream that was written here. */
bool zstd_stream_made(const void *head, size_t len);
