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
#define PIECE_ROWS (ARRAY_PIECE_BYTES / (uint32_t)sizeof(struct unwind_row))

void unwind_slabs_init(struct unwind_slabs *s, unwind_new_slab_fn new_slab, void *ctx,
		       uint64_t max_rows)
{
	memset(s, 0, sizeof(*s));
	s->new_slab = new_slab;
	s->ctx = ctx;
	s->max_rows = max_rows ? max_rows : UNWIND_MAX_ROWS;
	s->free.boundary = UNWIND_SLAB_ROWS;
}

static void unmap_written(struct unwind_slabs *s)
{
	if (s->write.rows)
		munmap(s->write.rows, s->write.nr * sizeof(*s->write.rows));
	s->write.rows = NULL;
}

void unwind_slabs_release(struct unwind_slabs *s)
{
	unmap_written(s);
	for (uint32_t i = 0; i < s->nr; i++) {
		mapped_array_close(&s->read[i]);
		close(s->fds[i]);
	}
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

/*
 * Maps the pieces that these rows are in. The others stay in the kernel and are not counted as
 * memory of probee.
 */
static void map_written(struct unwind_slabs *s, uint32_t first, uint32_t nr)
{
	uint32_t begin = first & ~(PIECE_ROWS - 1);
	uint32_t end = (first + nr + PIECE_ROWS - 1) & ~(PIECE_ROWS - 1);
	size_t at = (begin & (UNWIND_SLAB_ROWS - 1)) * sizeof(struct unwind_row);
	void *p = mmap(NULL, (end - begin) * sizeof(struct unwind_row), PROT_READ | PROT_WRITE,
		       MAP_SHARED, s->fds[begin >> UNWIND_SLAB_SHIFT], (off_t)at);

	if (p == MAP_FAILED) {
		fail(-errno, "map a slab of unwind rows");
		return;
	}
	s->write.rows = p;
	s->write.first = begin;
	s->write.nr = end - begin;
}

struct unwind_row *unwind_slabs_write(struct unwind_slabs *s, uint32_t first, uint32_t nr)
{
	assert(first >> UNWIND_SLAB_SHIFT < s->nr && nr);
	assert(first >> UNWIND_SLAB_SHIFT == (first + nr - 1) >> UNWIND_SLAB_SHIFT);
	if (!s->write.rows || first < s->write.first ||
	    first + nr > s->write.first + s->write.nr) {
		unmap_written(s);
		map_written(s, first, nr);
	}
	return s->write.rows ? s->write.rows + (first - s->write.first) : NULL;
}

/* Before another piece is mapped. Those that are still read are soon there again. */
static void rest_if_many(struct unwind_slabs *s)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		nr += s->read[i].nr_mapped;
	for (uint32_t i = 0; nr >= UNWIND_READ_PIECES && i < s->nr; i++)
		mapped_array_rest(&s->read[i]);
}

const struct unwind_row *unwind_slabs_read(struct unwind_slabs *s, uint32_t first, uint32_t nr)
{
	uint32_t key = first >> UNWIND_SLAB_SHIFT, row = first & (UNWIND_SLAB_ROWS - 1);
	size_t at = row * sizeof(struct unwind_row), len = nr * sizeof(struct unwind_row);
	struct mapped_array *a;

	if (key >= s->nr || nr > UNWIND_SLAB_ROWS - row)
		return NULL;
	a = &s->read[key];
	if (!a->v && mapped_array_open(a, s->fds[key], SLAB_BYTES))
		return NULL;
	if (!mapped_array_has(a, at, len))
		rest_if_many(s);
	return mapped_array_need(a, at, len) ? NULL : a->v;
}

uint64_t unwind_slabs_room(const struct unwind_slabs *s)
{
	return s->free.nr_free + s->max_rows - capacity(s);
}
