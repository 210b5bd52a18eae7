/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/unwind_slabs.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/fail.h"

#ifndef UNWIND_MAX_ROWS		/* tests/live/scale.sh makes a program with room for few */
#define UNWIND_MAX_ROWS ((uint64_t)UNWIND_MAX_SLABS * UNWIND_SLAB_ROWS)
#endif
#define SLAB_BYTES (UNWIND_SLAB_ROWS * sizeof(struct unwind_row))

void unwind_slabs_init(struct unwind_slabs *s, unwind_new_slab_fn new_slab, void *ctx,
		       uint64_t max_rows)
{
	memset(s, 0, sizeof(*s));
	s->new_slab = new_slab;
	s->ctx = ctx;
	s->max_rows = max_rows ? max_rows : UNWIND_MAX_ROWS;
	s->free.boundary = UNWIND_SLAB_ROWS;
}

static void unmap_slab(const struct unwind_row *rows)
{
	if (rows)
		munmap((void *)rows, SLAB_BYTES);
}

void unwind_slabs_release(struct unwind_slabs *s)
{
	unmap_slab(s->write);
	for (uint32_t i = 0; i < UNWIND_READ_SLABS; i++)
		unmap_slab(s->read[i].rows);
	for (uint32_t i = 0; i < s->nr; i++)
		close(s->fds[i]);
	extents_release(&s->free);
	memset(s, 0, sizeof(*s));
}

/* Rows that the slabs made so far may hold. */
static uint64_t capacity(const struct unwind_slabs *s)
{
	uint64_t rows = (uint64_t)s->nr * UNWIND_SLAB_ROWS;

	return rows < s->max_rows ? rows : s->max_rows;
}

static int grow(struct unwind_slabs *s)
{
	uint64_t before = capacity(s), left = s->max_rows - before;
	uint32_t rows = left < UNWIND_SLAB_ROWS ? (uint32_t)left : UNWIND_SLAB_ROWS;
	int fd;

	if (!left || s->nr == UNWIND_MAX_SLABS)
		return -ENOSPC;
	fd = s->new_slab(s->ctx, s->nr);
	if (fd < 0)
		return fd;
	s->fds[s->nr] = fd;
	return extents_give(&s->free, s->nr++ << UNWIND_SLAB_SHIFT, rows);
}

int unwind_slabs_take(struct unwind_slabs *s, uint32_t nr, uint32_t *first)
{
	int err = extents_take(&s->free, nr, first);

	if (err == -ENOSPC)
		err = grow(s);
	else
		return err;
	return err ? err : extents_take(&s->free, nr, first);
}

void unwind_slabs_give(struct unwind_slabs *s, uint32_t first, uint32_t nr)
{
	extents_give(&s->free, first, nr);
}

static struct unwind_row *map_slab(const struct unwind_slabs *s, uint32_t key, int prot)
{
	void *p = mmap(NULL, SLAB_BYTES, prot, MAP_SHARED, s->fds[key], 0);

	if (p == MAP_FAILED) {
		fail(-errno, "map a slab of unwind rows");
		return NULL;
	}
	return p;
}

struct unwind_row *unwind_slabs_write(struct unwind_slabs *s, uint32_t first)
{
	uint32_t key = first >> UNWIND_SLAB_SHIFT;

	assert(key < s->nr);
	/*
	 * One slab is mapped at a time. The others stay in the kernel and are not counted as memory
	 * of probee.
	 */
	if (!s->write || s->write_key != key) {
		unmap_slab(s->write);
		s->write = map_slab(s, key, PROT_READ | PROT_WRITE);
		s->write_key = key;
	}
	return s->write ? s->write + (first & (UNWIND_SLAB_ROWS - 1)) : NULL;
}

const struct unwind_row *unwind_slabs_read(struct unwind_slabs *s, uint32_t first)
{
	uint32_t key = first >> UNWIND_SLAB_SHIFT, i = key % UNWIND_READ_SLABS;

	if (key >= s->nr)
		return NULL;
	if (!s->read[i].rows || s->read[i].key != key) {
		unmap_slab(s->read[i].rows);
		s->read[i].rows = map_slab(s, key, PROT_READ);
		s->read[i].key = key;
	}
	return s->read[i].rows;
}

uint64_t unwind_slabs_room(const struct unwind_slabs *s)
{
	return s->free.nr_free + s->max_rows - capacity(s);
}
