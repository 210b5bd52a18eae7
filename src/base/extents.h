/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which ranges of 0 .. n - 1 are free. A range is taken where it first fits, and adjacent free
 * ranges are merged.
 *
 *	struct extents e = { .boundary = 0 };
 *	extents_give(&e, 0, 4096)	makes a range free: at the start, and after its use
 *	extents_take(&e, 10, &first)	0, or -ENOSPC: no free range is that long
 *	extents_release(&e)
 *
 * A range of length 0 takes no room and is not kept: it is taken at 0 and given back in vain.
 *
 * With a boundary (a power of two), free ranges are never merged across a multiple of it, so a
 * range that is taken does not cross one either.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t first, nr;
};

struct extents {
	struct extent *v;		/* free ones, ascending, none empty */
	size_t nr, cap;
	uint64_t nr_free;		/* sum of their lengths */
	uint32_t boundary;		/* 0: none */
};

void extents_release(struct extents *e);

/* 0 or -ENOSPC. */
int extents_take(struct extents *e, uint32_t nr, uint32_t *first);

/* The range must not be free already. 0, or -ENOMEM: the range stays taken for ever. */
int extents_give(struct extents *e, uint32_t first, uint32_t nr);
