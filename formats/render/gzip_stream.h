/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream that compresses (gzip, RFC 1952) what is written to it on to another one. Equal input
 * gives equal bytes: the header holds no time and no file name, but a comment by which an earlier
 * report is known.
 *
 *	gzip_stream_open(&g, out)	0 or -ENOMEM; g.stream is to be written to
 *	gzip_stream_close(&g)		writes the rest; 0 or -errno. out stays open
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzip_stream {
	FILE *stream;
	FILE *out;
	z_stream z;
	gz_header header;
	int err;			/* the first one; 0: none */
};

int gzip_stream_open(struct gzip_stream *g, FILE *out);
int gzip_stream_close(struct gzip_stream *g);

/* Whether these first bytes of a file are of a stream that was written here. */
bool gzip_stream_made(const void *head, size_t len);
