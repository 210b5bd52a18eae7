/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which ranges of 0 .. n - 1 are free: first fit, neighbours grow together again.
 *
 *	struct extents e = { .boundary = 0 };
 *	extents_give(&e, 0, 4096)	a range becomes free: at the start, and whenever one comes
 *					back
 *	extents_take(&e, 10, &first)	0, or -ENOSPC: no free range is that long
 *	extents_release(&e)
 *
 * With a boundary (a power of two) ranges that were given apart never grow together across its
 * multiples, so what is taken never crosses one either.
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
	uint64_t nr_free;		/* sum of all */
	uint32_t boundary;		/* 0: none */
};

void extents_release(struct extents *e);

/* 0 or -ENOSPC. nr >= 1. */
int extents_take(struct extents *e, uint32_t nr, uint32_t *first);

/* The range must not be free already. 0, or -ENOMEM: it is lost. */
int extents_give(struct extents *e, uint32_t first, uint32_t nr);
