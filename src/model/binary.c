/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/binary.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

#define PAGE_MASK_4K 4095ull

int binaries_init(struct binaries *bs)
{
	memset(bs, 0, sizeof(*bs));
	return array_push(&bs->v, &bs->nr, &bs->cap) ? 0 : -ENOMEM;
}

static void binary_free(struct binary *b)
{
	if (!b)
		return;
	free(b->path);
	free(b->segments);
	free(b);
}

void binaries_release(struct binaries *bs)
{
	for (size_t i = 0; i < bs->nr; i++)
		binary_free(bs->v[i]);
	free(bs->v);
	ix_release(&bs->by_file);
	memset(bs, 0, sizeof(*bs));
}

static uint64_t file_hash(const struct file_id *id)
{
	return hash_u64(hash_u64(hash_u64(hash_u64(1, id->dev), id->ino), id->size_bytes),
			(uint64_t)id->mtime_ns);
}

struct key {
	const struct binaries *bs;
	const struct file_id *id;
};

static bool same_file(const void *ctx, uint32_t index)
{
	const struct key *k = ctx;
	const struct binary *b = k->bs->v[index];

	return b->ino == k->id->ino && b->dev == k->id->dev && b->size_bytes == k->id->size_bytes &&
	       b->mtime_ns == k->id->mtime_ns && b->uid == k->id->uid;
}

struct binary *binaries_find(const struct binaries *bs, const struct file_id *id)
{
	struct key k = { bs, id };
	uint32_t index = ix_find(&bs->by_file, file_hash(id), same_file, &k);

	return index == IX_NONE ? NULL : bs->v[index];
}

/* A path inside a chroot may be written as seen from there or from outside: one ends the other. */
static bool same_path(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	const char *shorter = la < lb ? a : b;

	return *shorter == '/' && !strcmp(la < lb ? b + lb - la : a + la - lb, shorter);
}

struct binary *binaries_find_inode(const struct binaries *bs, uint64_t dev, uint64_t ino,
				   const char *path)
{
	for (size_t i = bs->nr; i-- > 1;) {
		struct binary *b = bs->v[i];

		if (b->ino == ino && b->dev == dev && same_path(b->path, path))
			return b;
	}
	return NULL;
}

struct binary *binaries_get(const struct binaries *bs, uint32_t index)
{
	return index && index < bs->nr ? bs->v[index] : NULL;
}

struct binary *binaries_add(struct binaries *bs, const struct file_id *id, const char *path,
			    uint8_t kind)
{
	struct binary *b = calloc(1, sizeof(*b)), **slot;

	if (!b)
		return NULL;
	b->path = strdup(path);
	assert(bs->nr);		/* binaries_init() has made entry 0, which is no binary */
	slot = b->path ? array_push(&bs->v, &bs->nr, &bs->cap) : NULL;
	if (!slot) {
		binary_free(b);
		return NULL;
	}
	*slot = b;
	b->index = (uint32_t)bs->nr - 1;
	b->kind = kind;
	b->dev = id->dev;
	b->ino = id->ino;
	b->size_bytes = id->size_bytes;
	b->mtime_ns = id->mtime_ns;
	b->uid = id->uid;
	if (id->ino && ix_add(&bs->by_file, file_hash(id), b->index))
		return NULL;
	return b;
}

static bool covers(const struct rec_segment *s, uint64_t pgoff_bytes)
{
	uint64_t first = s->offset & ~PAGE_MASK_4K,
		 last = (s->offset + s->filesz + PAGE_MASK_4K) & ~PAGE_MASK_4K;

	return s->filesz && pgoff_bytes >= first && pgoff_bytes < last;
}

/*
 * The segment that was mapped from this page of the file. Two segments may share a page; then it is
 * the one that begins there.
 */
static const struct rec_segment *segment_at(const struct binary *b, uint64_t pgoff_bytes)
{
	const struct rec_segment *found = NULL;

	for (uint32_t i = 0; i < b->nr_segments; i++) {
		const struct rec_segment *s = &b->segments[i];

		if (!covers(s, pgoff_bytes))
			continue;
		if ((s->offset & ~PAGE_MASK_4K) == pgoff_bytes)
			return s;
		if (!found)
			found = s;
	}
	return found;
}

uint64_t binary_to_vaddr(const struct binary *b, uint64_t start, uint64_t pgoff_bytes)
{
	const struct rec_segment *s = segment_at(b, pgoff_bytes);

	return s ? s->vaddr + (pgoff_bytes - s->offset) - start : pgoff_bytes - start;
}

bool binary_path_is_memory(const char *path)
{
	static const char *const paths[] = { "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strncmp(path, paths[i], strlen(paths[i])))
			return true;
	return !*path;
}

bool binary_is_memory(const struct binary *b)
{
	return !b->is_elf && binary_path_is_memory(b->path);
}
