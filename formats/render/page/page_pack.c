/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_pack.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/base/bytes.h"

#define LEVEL 2				/* of zlib: 6 is 4 times as slow, for a tenth of the size */
#define DEFLATE_FROM 400		/* shorter messages hardly become shorter */
#define PIECE (3u << 14)

/* What DecompressionStream("deflate") takes. */
struct page_pack {
	page_pack_fn *put;
	void *ctx;
	z_stream z;
	bool is_long;			/* deflated */
	bool bad;			/* out of memory */
	size_t nr_short;
	uint8_t plain[DEFLATE_FROM];	/* as long as it is short */
	uint8_t piece[PIECE];
};

struct page_pack *page_pack_new(page_pack_fn *put, void *ctx)
{
	struct page_pack *p = malloc(sizeof(*p));

	if (p) {
		memset(p, 0, offsetof(struct page_pack, plain));
		p->put = put;
		p->ctx = ctx;
	}
	return p;
}

void page_pack_free(struct page_pack *p)
{
	if (p && p->is_long)
		deflateEnd(&p->z);
	free(p);
}

static void begin_piece(struct page_pack *p)
{
	p->z.next_out = p->piece;
	p->z.avail_out = PIECE;
}

static void put_piece(struct page_pack *p)
{
	p->put(p->ctx, p->piece, PIECE - p->z.avail_out);
	begin_piece(p);
}

/* flush: of deflate(). Z_FINISH: until all has been put. */
static void run(struct page_pack *p, const void *data, size_t len, int flush)
{
	int result = Z_OK;

	p->z.next_in = (void *)(uintptr_t)data;
	p->z.avail_in = (uInt)len;
	while (result == Z_OK && (p->z.avail_in || flush == Z_FINISH)) {
		result = deflate(&p->z, flush);
		if (!p->z.avail_out)
			put_piece(p);
	}
}

static void pack(struct page_pack *p, const uint8_t *data, size_t len)
{
	while (len && !p->bad) {
		size_t nr = len < INT_MAX ? len : INT_MAX;

		run(p, data, nr, Z_NO_FLUSH);
		data += nr;
		len -= nr;
	}
}

static void begin_long(struct page_pack *p)
{
	p->is_long = deflateInit(&p->z, LEVEL) == Z_OK;
	p->bad |= !p->is_long;
	begin_piece(p);
	*p->z.next_out++ = 1;
	p->z.avail_out--;
	pack(p, p->plain, p->nr_short);
}

void page_pack_bytes(struct page_pack *p, const void *data, size_t len)
{
	if (!p->is_long && !p->bad && len < DEFLATE_FROM - p->nr_short) {
		if (len)
			memcpy(p->plain + p->nr_short, data, len);
		p->nr_short += len;
		return;
	}
	if (!p->is_long && !p->bad)
		begin_long(p);
	pack(p, data, len);
}

void page_pack_part(struct page_pack *p, struct byte_buf *part)
{
	page_pack_bytes(p, part->v, part->nr);
	p->bad |= part->bad;
	bb_release(part);
}

int page_pack_end(struct page_pack *p)
{
	if (p->bad)
		return -ENOMEM;
	if (p->is_long) {
		run(p, NULL, 0, Z_FINISH);
	} else {
		begin_piece(p);
		*p->z.next_out++ = 0;
		memcpy(p->z.next_out, p->plain, p->nr_short);
		p->z.avail_out -= (uInt)p->nr_short + 1;
	}
	put_piece(p);
	return 0;
}
