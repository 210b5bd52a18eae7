/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in which the tables of one binary are kept: its layout. Who opens and writes it is
 * src/parse/line_cache.h.
 *
 *	struct cache_head
 *	struct cache_record, its bytes, zeros up to a multiple of 8
 *	struct cache_record, ...
 *
 * A file grows by records. Those up to head.end are whole; what is behind is of a writer that was
 * ended. Numbers are as the machine has them: the file is for this machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CACHE_MAGIC 0x33656e696c656270ull	/* "pbeline3" */

struct cache_head {
	uint64_t magic;
	uint64_t end;			/* bytes of the file that count, this head included */
};

enum cache_kind { CACHE_INDEX = 1, CACHE_UNIT };

struct cache_record {
	uint32_t kind;
	uint32_t len;			/* bytes that follow, without the zeros */
	uint64_t unit;
};

/* The whole records of a file, which are foreign: data has r->len bytes. */
void debug_cache_each(const void *file, size_t len,
		      void (*take)(void *ctx, const struct cache_record *r, const void *data),
		      void *ctx);

static inline size_t cache_padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}
