/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compresses an output whose name asks for it: NAME.gz, NAME.zst.
 *
 *	packed_output_open(&p, file, out)	p.stream is for the renderer
 *	packed_output_close(&p)			0 or -errno
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "formats/render/gzip_stream.h"
#include "formats/render/zstd_stream.h"

struct packed_output {
	FILE *stream;			/* out itself if nothing is compressed */
	struct gzip_stream gzip;
	struct zstd_stream zstd;
};

/* Whether a file of this name (NULL: none) is compressed. */
bool packed_output_is(const char *file);

int packed_output_open(struct packed_output *p, const char *file, FILE *out);	/* 0 or -ENOMEM */
int packed_output_close(struct packed_output *p);

/*
 * Whether these first bytes of a file are of an output that was written here. Nothing is
 * decompressed: this is asked where rights have not been given up.
 */
bool packed_output_made(const void *head, size_t len);
