/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of source lines that are kept on disk, so that the next recording need not read the debug
 * information again: a file for each binary, in /var/cache/probee for root and in
 * $XDG_CACHE_HOME/probee or ~/.cache/probee for others.
 *
 *	line_cache_new(&c)
 *	fd = line_cache_open(c, &key)		for a parser to read
 *	line_cache_append(c, &key, v, len)	what a parser has made
 *	line_cache_free(c)
 *
 * The name of a file has the build-id of the binary and says which file it is. A user who makes a
 * file with the build-id of libc has a cache file of his own, and cannot change the names of root's
 * libc. The owner alone would not do, because root of a container is often root here, too.
 * What is kept is as foreign as the binary, so only parsers read it. The directory must be ours
 * alone, else nothing is kept. Above LINE_CACHE_BYTES the files that were not used for longest are
 * removed. Functions may be called from any thread, and several recordings may share a directory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define LINE_CACHE_BYTES (1ull << 30)
#define LINE_CACHE_FILE_BYTES (512ull << 20)

struct line_cache;

struct line_cache_key {
	const uint8_t *build_id;
	uint32_t build_id_len;		/* 0: nothing is kept */
	uint32_t owner;
	dev_t dev;
	ino_t ino;
	struct timespec changed;	/* st_ctim: no one but the kernel sets it */
};

/* 0; or -errno, and *cp is NULL, which all functions take for a cache that keeps nothing. */
int line_cache_new(struct line_cache **cp);
void line_cache_free(struct line_cache *c);

/* A descriptor for reading, or -errno. */
int line_cache_open(struct line_cache *c, const struct line_cache_key *key);

/* Appends records (debug_cache.h). A failure costs time when the file is met again. */
void line_cache_append(struct line_cache *c, const struct line_cache_key *key, const void *v,
		       size_t len);
