/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of source lines that are kept on disk (cache_folder.h), so that the next recording need
 * not read the debug information again.
 *
 *	fd = line_cache_open(c, &key)		for a parser to read
 *	line_cache_append(c, &key, v, len)	what a parser has made
 *
 * Only parsers read it.
 */
#pragma once

#include "src/parse/cache_folder.h"

#define LINE_CACHE_FILE_BYTES (512ull << 20)

/* A descriptor for reading, or -errno. */
int line_cache_open(struct cache_folder *c, const struct cache_key *key);

/* Appends records (debug_cache.h). */
void line_cache_append(struct cache_folder *c, const struct cache_key *key, const void *v,
		       size_t len);
