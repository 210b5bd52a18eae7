/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/mapped_array.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/fail.h"

/* Takes the addresses from at on, where zeros can be read. */
static void *map_nothing(void *at, size_t bytes)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);

	return mmap(at, bytes, PROT_READ, flags, -1, 0);
}

int mapped_array_open(struct mapped_array *a, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*a = (struct mapped_array){ .bytes = (bytes + page - 1) & ~(page - 1), .fd = fd };
	assert(a->bytes <= (size_t)ARRAY_MAX_PIECES * ARRAY_PIECE_BYTES);
	a->v = map_nothing(NULL, a->bytes);
	if (a->v == MAP_FAILED) {
		a->v = NULL;
		return -errno;
	}
	return 0;
}

void mapped_array_close(struct mapped_array *a)
{
	if (a->v)
		munmap(a->v, a->bytes);
	*a = (struct mapped_array){ 0 };
}

static bool is_mapped(const struct mapped_array *a, size_t piece)
{
	return a->mapped[piece / 64] >> piece % 64 & 1;
}

static int map_piece(struct mapped_array *a, size_t piece)
{
	size_t at = piece * ARRAY_PIECE_BYTES, left = a->bytes - at;
	size_t len = left < ARRAY_PIECE_BYTES ? left : ARRAY_PIECE_BYTES;
	void *p = mmap((char *)a->v + at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		       a->fd, (off_t)at);

	if (p == MAP_FAILED) {
		int err = fail(-errno, "map a piece of the unwind tables");

		map_nothing((char *)a->v + at, len);
		return err;
	}
	a->mapped[piece / 64] |= 1ull << piece % 64;
	a->nr_mapped++;
	return 0;
}

/* The piece behind these bytes. */
static size_t end_of(size_t offset, size_t len)
{
	return len ? (offset + len - 1) / ARRAY_PIECE_BYTES + 1 : 0;
}

bool mapped_array_has(const struct mapped_array *a, size_t offset, size_t len)
{
	bool has = true;

	assert(len <= a->bytes && offset <= a->bytes - len);
	for (size_t i = offset / ARRAY_PIECE_BYTES; i < end_of(offset, len); i++)
		has &= is_mapped(a, i);
	return has;
}

int mapped_array_need(struct mapped_array *a, size_t offset, size_t len)
{
	int err = 0;

	assert(len <= a->bytes && offset <= a->bytes - len);
	for (size_t i = offset / ARRAY_PIECE_BYTES; i < end_of(offset, len); i++)
		if (!err && !is_mapped(a, i))
			err = map_piece(a, i);
	return err;
}

void mapped_array_rest(struct mapped_array *a)
{
	if (!a->nr_mapped || map_nothing(a->v, a->bytes) == MAP_FAILED)
		return;
	memset(a->mapped, 0, sizeof(a->mapped));
	a->nr_mapped = 0;
}
