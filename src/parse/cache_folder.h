/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What recordings keep on disk of files that they have read, so that the next one need not do that
 * again: the folder $XDG_CACHE_HOME/probee, or without this variable /var/cache/probee for root and
 * ~/.cache/probee for others, with a file of each kind for each binary.
 *
 *	cache_folder_new(&c)
 *	fd = cache_folder_open(c, &key, kind)		what is kept, for reading
 *	cache_folder_write(c, &key, kind, fn, v, len)	fn writes it
 *	cache_folder_free(c)
 *
 * The name of a file has the build-id of the binary and says which file it is. A user who makes a
 * file with the build-id of libc has cache files of his own, and cannot change what root's libc is
 * said to be. The owner alone would not do, because root of a container is often root here, too.
 * What is kept is as foreign as the binary. The folder must be ours alone, else nothing is kept.
 * Above CACHE_FOLDER_BYTES the files that were not used for longest are removed. Functions may be
 * called from any thread, and several recordings may share a folder.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define CACHE_FOLDER_BYTES (1ull << 30)

struct cache_folder;
struct symbol_inode;

enum cached {
	CACHE_LINES,			/* line_cache.h */
	CACHE_TABLE,			/* table_cache.h */
};

struct cache_key {
	const uint8_t *build_id;
	uint32_t build_id_len;		/* 0: nothing is kept */
	uint32_t owner;
	dev_t dev;
	ino_t ino;
	struct timespec changed;	/* st_ctim: no one but the kernel sets it */
};

/* The build-id is borrowed. inode NULL: nothing is kept. */
struct cache_key cache_key_of(const uint8_t *build_id, uint32_t build_id_len, uint32_t owner,
			      const struct symbol_inode *inode);

/* 0; or -errno, and *cp is NULL, which all functions take for a folder that keeps nothing. */
int cache_folder_new(struct cache_folder **cp);
void cache_folder_free(struct cache_folder *c);

/* A descriptor for reading, or -errno. */
int cache_folder_open(struct cache_folder *c, const struct cache_key *key, enum cached kind);

/*
 * Has fn write len bytes to the file, which no other recording writes meanwhile (but may read).
 * What fn returns, or -errno. A failure costs time when the binary is met again.
 */
typedef int (*cache_write_fn)(int fd, const void *v, size_t len);
int cache_folder_write(struct cache_folder *c, const struct cache_key *key, enum cached kind,
		       cache_write_fn fn, const void *v, size_t len);
