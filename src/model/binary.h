/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binaries of a recording by identity: ELF files, and what has no file of its own (vdso, kernel
 * and its modules). Plain data: src/capture/processes/binary_store.h opens the files and builds
 * their tables.
 *
 * A file is identified by {dev, ino} as /proc/PID/maps prints them, plus size and mtime: inode
 * numbers are reused within seconds where compilers run. Its owner belongs to it as well: a user
 * can give a file of his own any contents, but not another owner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/model/record.h"

struct binary {
	uint32_t index;			/* 1, 2, ... */
	uint32_t record_id;		/* of its BINARY record; 0: not written yet */
	uint8_t kind;			/* enum binary_kind */
	bool is_elf;			/* headers were read: segments, addresses are valid */
	char *path;			/* as the process sees it; owned */
	uint64_t dev, ino, size_bytes;
	int64_t mtime_ns;
	uint32_t uid;			/* its owner, or a number for who else can write it */
	uint8_t build_id[64], build_id_len;
	uint32_t flags;			/* BINARY_HAS_... */
	struct rec_segment *segments;	/* the executable ones; owned */
	uint32_t nr_segments;
	uint64_t vaddr_lo, vaddr_hi;
};

struct binaries {
	struct binary **v;		/* v[0] is NULL: index 0 means none */
	size_t nr, cap;
	struct hash_index by_file;
};

struct file_id {
	uint64_t dev, ino, size_bytes;
	int64_t mtime_ns;
	uint32_t uid;
};

int binaries_init(struct binaries *bs);
void binaries_release(struct binaries *bs);

/* Borrowed, or NULL. */
struct binary *binaries_find(const struct binaries *bs, const struct file_id *id);

/*
 * The newest binary with this inode and path, whatever its size: for files that can no longer be
 * opened. The path may be one as seen inside a chroot. Slow: looks at all.
 */
struct binary *binaries_find_inode(const struct binaries *bs, uint64_t dev, uint64_t ino,
				   const char *path);
struct binary *binaries_get(const struct binaries *bs, uint32_t index);

/*
 * A new binary with this identity and path; NULL: out of memory. An id of all zero (vdso, kernel)
 * is allowed; binaries_find() does not find such a binary.
 */
struct binary *binaries_add(struct binaries *bs, const struct file_id *id, const char *path,
			    uint8_t kind);

/*
 * true: a mapping with this path is memory in which code can be made: anonymous or shared memory,
 * or a memfd.
 */
bool binary_path_is_memory(const char *path);
bool binary_is_memory(const struct binary *b);	/* such a path, and no ELF file */

/*
 * What to add to an address in a mapping {start, pgoff_bytes} to get a virtual address of the file.
 * Only executable segments count, because linkers put a read-only and an executable one into the
 * same page of the file. In a file that is not an ELF file, addresses become file offsets.
 */
uint64_t binary_to_vaddr(const struct binary *b, uint64_t start, uint64_t pgoff_bytes);
