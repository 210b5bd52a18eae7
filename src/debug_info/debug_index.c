/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_index.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/bisect.h"

#define MAX_OVERLAPS 16			/* ranges before the nearest one that are looked at */

static int by_addr(const void *a, const void *b)
{
	const struct index_range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->hi > y->hi ? -1 : x->hi < y->hi;
}

int debug_index_make(struct index_range *v, size_t nr, struct byte_buf *out)
{
	size_t before = out->nr;

	if (nr)
		qsort(v, nr, sizeof(*v), by_addr);
	bb_bytes(out, v, nr * sizeof(*v));
	if (!out->bad)
		return 0;
	out->bad = false;
	out->nr = before;
	return -ENOMEM;
}

int debug_index_open(const void *data, size_t len, struct debug_index *ix)
{
	*ix = (struct debug_index){ data, len / sizeof(*ix->v) };
	return len % sizeof(*ix->v) ? -EBADMSG : 0;
}

int debug_index_find(const struct debug_index *ix, uint64_t addr, uint64_t *unit)
{
	size_t after = bisect(ix->nr, i, ix->v[i].lo <= addr);

	for (size_t i = after; i > 0 && after - i < MAX_OVERLAPS; i--)
		if (addr < ix->v[i - 1].hi) {
			*unit = ix->v[i - 1].unit;
			return 0;
		}
	return -ENOENT;
}
