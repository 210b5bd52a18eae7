/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing arrays: {T *v; size_t nr, cap;} stays in the caller's struct, and these functions grow
 * it.
 *
 *	struct node *n = array_push(&t->nodes, &t->nr_nodes, &t->cap_nodes);
 *	if (!n) return -ENOMEM;
 *
 * New elements are zeroed. The array moves when it grows, so keep indices, not pointers. The caller
 * frees it with free().
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * A large array grows by an eighth: what is not used yet is zeroed, so it takes memory, too, while
 * growing costs little, because the kernel moves pages and copies nothing.
 */
#define ARRAY_LARGE_BYTES (4u << 20)

/* Makes room for at least need elements of size bytes. 0, or -1: out of memory, array unchanged. */
static inline int array_reserve_raw(void **v, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 16;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need)
		n += (n > ARRAY_LARGE_BYTES / size ? n / 8 : n / 2) + 8;
	if (n > (size_t)-1 / 2 / size)
		return -1;
	p = realloc(*v, n * size);
	if (!p)
		return -1;
	memset((char *)p + *cap * size, 0, (n - *cap) * size);
	*v = p;
	*cap = n;
	return 0;
}

#define array_reserve(vp, capp, need)                                                              \
	array_reserve_raw((void **)(vp), (capp), (need), sizeof(**(vp)))

/* Gives back what v has beyond the bytes that are used. Returns where it is then. */
static inline void *array_shrink(void *v, size_t bytes)
{
	void *less = v && bytes ? realloc(v, bytes) : NULL;

	return less ? less : v;
}

/* Address of a new zeroed last element, or NULL when out of memory. */
#define array_push(vp, nrp, capp) \
	(array_reserve((vp), (capp), *(nrp) + 1) ? NULL : \
	 (memset(&(*(vp))[*(nrp)], 0, sizeof(**(vp))), &(*(vp))[(*(nrp))++]))
