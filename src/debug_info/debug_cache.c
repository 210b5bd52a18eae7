/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_cache.h"

void debug_cache_each(const void *file, size_t len,
		      void (*take)(void *ctx, const struct cache_record *r, const void *data),
		      void *ctx)
{
	const struct cache_head *h = file;
	size_t at = sizeof(*h), end;

	if (len < sizeof(*h) || h->magic != CACHE_MAGIC)
		return;
	end = h->end < len ? (size_t)h->end : len;
	while (at + sizeof(struct cache_record) <= end) {
		const struct cache_record *r = (const void *)((const char *)file + at);

		at += sizeof(*r);
		if (r->len > end - at)
			return;
		take(ctx, r, (const char *)file + at);
		at += cache_padded(r->len);
	}
}
