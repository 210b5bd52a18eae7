/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/scan_rows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

void scan_rows_release(struct scan_rows *w)
{
	free(w->rows);
	memset(w, 0, sizeof(*w));
}

int scan_rows_add(struct scan_rows *w, const struct rec_sample *s)
{
	if (!s->scan || !s->thread)
		return 0;
	if (array_reserve(&w->rows, &w->cap_rows, (size_t)s->thread + 1))
		return -ENOMEM;
	w->rows[s->thread] = *s;
	return 0;
}

void scan_rows_repeat(struct scan_rows *w, const struct rec_repeat *r)
{
	w->repeat = *r;
	w->run = w->done = 0;
}

void scan_rows_stop(struct scan_rows *w)
{
	w->repeat.nr_runs = w->run = w->done = 0;
}

/*
 * Number of threads among n from first on that have no row. The run may reach far beyond the last
 * thread that has one.
 */
static uint32_t count_missing(const struct id_checker *t, uint32_t first, uint32_t n)
{
	const uint8_t *p, *hit;
	size_t known = t->cap_in_scan > first ? t->cap_in_scan - first : 0;

	if (!known)
		return n;
	p = t->in_scan + first;
	hit = memchr(p, 1, n < known ? n : known);
	return hit ? (uint32_t)(hit - p) : n;
}

bool scan_rows_next(struct scan_rows *w, const struct id_checker *t, struct rec_sample *s)
{
	for (; w->run < w->repeat.nr_runs; w->run++, w->done = 0) {
		const struct rec_run *run = &w->repeat.runs[w->run];
		uint32_t missing = count_missing(t, run->thread + w->done, run->nr - w->done);

		w->left_out += missing;
		w->done += missing;
		if (w->done == run->nr)
			continue;
		assert(run->thread + w->done < w->cap_rows);	/* as in_scan is set */
		*s = w->rows[run->thread + w->done++];
		s->time_ns = w->repeat.time_ns;
		s->scan = w->repeat.scan;
		return true;
	}
	return false;
}
