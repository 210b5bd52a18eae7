/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/last_rows.h"

#include <stdlib.h>

#include "src/base/array.h"

struct last_row *last_rows_find(const struct last_rows *r, uint32_t thread)
{
	uint32_t place = thread < r->nr_threads ? r->places[thread] : 0;

	return place ? &r->v[place - 1] : NULL;
}

struct last_row *last_rows_at(struct last_rows *r, uint32_t thread)
{
	struct last_row *row = last_rows_find(r, thread);

	if (row)
		return row;
	if (array_reserve(&r->places, &r->cap_threads, (size_t)thread + 1))
		return NULL;
	row = array_push(&r->v, &r->nr, &r->cap);
	if (!row)
		return NULL;
	r->places[thread] = (uint32_t)r->nr;
	if (thread >= r->nr_threads)
		r->nr_threads = (size_t)thread + 1;
	return row;
}

void last_rows_release(struct last_rows *r)
{
	free(r->v);
	free(r->places);
	*r = (struct last_rows){ 0 };
}
