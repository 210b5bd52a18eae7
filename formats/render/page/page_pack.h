/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs a message (page_message.h) piece by piece, so that it is never in memory as a whole.
 *
 *	p = page_pack_new(put, ctx)		NULL: out of memory
 *	page_pack_bytes(p, data, len), page_pack_part(p, &part) ...
 *	page_pack_end(p)			0 or -ENOMEM, of all calls
 *	page_pack_free(p)			NULL is fine
 *
 * put gets the packed bytes. All pieces but the last one are multiples of three bytes, so each can
 * be written as base64 alone.
 */
#pragma once

#include <stddef.h>

struct byte_buf;
struct page_pack;

typedef void page_pack_fn(void *ctx, const void *data, size_t len);

struct page_pack *page_pack_new(page_pack_fn *put, void *ctx);
void page_pack_bytes(struct page_pack *p, const void *data, size_t len);
/* part is empty afterwards, and its memory is released. */
void page_pack_part(struct page_pack *p, struct byte_buf *part);
int page_pack_end(struct page_pack *p);
void page_pack_free(struct page_pack *p);
