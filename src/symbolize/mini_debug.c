/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/mini_debug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "src/elf/elf_image.h"

#define MAX_BYTES (64u << 20)
/* xz -9 makes files that need 65 MiB. */
#define MAX_DECODER_BYTES (80u << 20)
#define FIRST_BYTES (256u << 10)
#define CHUNK_BYTES 65536

struct output {
	uint8_t *v;
	size_t cap;
};

static int error_of(lzma_ret ret)
{
	if (ret == LZMA_OK)
		return 0;
	if (ret == LZMA_MEM_ERROR)
		return -ENOMEM;
	return ret == LZMA_MEMLIMIT_ERROR ? -EFBIG : -EBADMSG;
}

/* Makes room for more, and lets the decoder write there. */
static int grow(struct output *o, lzma_stream *x)
{
	size_t cap = o->cap ? 2 * o->cap : FIRST_BYTES;
	uint8_t *v = cap <= MAX_BYTES ? realloc(o->v, cap) : NULL;

	if (!v)
		return cap > MAX_BYTES ? -EFBIG : -ENOMEM;
	x->next_out = v + x->total_out;
	x->avail_out = cap - (size_t)x->total_out;
	*o = (struct output){ v, cap };
	return 0;
}

/* 1: the end of the compressed file. */
static int step(struct output *o, lzma_stream *x)
{
	lzma_ret ret;
	int err = x->avail_out ? 0 : grow(o, x);

	if (err)
		return err;
	ret = lzma_code(x, LZMA_RUN);
	return ret == LZMA_STREAM_END ? 1 : error_of(ret);
}

/* Some linkers pad sections, so what follows the end does not count. */
static int decode(struct elf_image *img, const struct elf_section *sec, struct output *o,
		  lzma_stream *x)
{
	uint8_t chunk[CHUNK_BYTES];
	int err = 0;

	for (uint64_t at = 0; !err && at < sec->size;) {
		uint64_t left = sec->size - at;
		long n = elf_image_pread(img, chunk, left < sizeof(chunk) ? left : sizeof(chunk),
					 sec->offset + at);

		if (n <= 0)
			return n ? (int)n : -EBADMSG;
		at += (uint64_t)n;
		x->next_in = chunk;
		x->avail_in = (size_t)n;
		while (!err && (x->avail_in || !x->avail_out))
			err = step(o, x);
	}
	return err == 1 ? 0 : err ? err : -EBADMSG;
}

int mini_debug_read(struct elf_image *img, void **data, size_t *len)
{
	lzma_stream x = LZMA_STREAM_INIT;
	struct output o = { 0 };
	struct elf_section sec;
	int err = elf_image_section(img, ".gnu_debugdata", &sec);

	if (!err)
		err = error_of(lzma_stream_decoder(&x, MAX_DECODER_BYTES, 0));
	if (!err)
		err = decode(img, &sec, &o, &x);
	*len = (size_t)x.total_out;
	lzma_end(&x);
	if (err)
		free(o.v);
	else
		*data = o.v;
	return err;
}
