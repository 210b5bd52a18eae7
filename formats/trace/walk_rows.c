#include "formats/trace/walk_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

void walk_rows_release(struct walk_rows *w)
{
	free(w->rows);
	memset(w, 0, sizeof(*w));
}

int walk_rows_add(struct walk_rows *w, const struct rec_sample *s)
{
	if (!s->walk || !s->thread)
		return 0;
	if (array_reserve(&w->rows, &w->cap_rows, (size_t)s->thread + 1))
		return -ENOMEM;
	w->rows[s->thread] = *s;
	return 0;
}

void walk_rows_repeat(struct walk_rows *w, const struct rec_repeat *r)
{
	w->repeat = *r;
	w->run = w->done = 0;
}

void walk_rows_stop(struct walk_rows *w)
{
	w->repeat.nr_runs = w->run = w->done = 0;
}

/* How many of n threads from first on have no row. The run may reach far behind the last thread that has one. */
static uint32_t count_missing(const struct trace_tables *t, uint32_t first, uint32_t n)
{
	const uint8_t *p, *hit;
	size_t known = t->cap_in_walk > first ? t->cap_in_walk - first : 0;

	if (!known)
		return n;
	p = t->in_walk + first;
	hit = memchr(p, 1, n < known ? n : known);
	return hit ? (uint32_t)(hit - p) : n;
}

bool walk_rows_next(struct walk_rows *w, const struct trace_tables *t, struct rec_sample *s)
{
	for (; w->run < w->repeat.nr_runs; w->run++, w->done = 0) {
		const struct rec_run *run = &w->repeat.runs[w->run];
		uint32_t missing = count_missing(t, run->thread + w->done, run->nr - w->done);

		w->left_out += missing;
		w->done += missing;
		if (w->done == run->nr)
			continue;
		*s = w->rows[run->thread + w->done++];
		s->time_ns = w->repeat.time_ns;
		s->walk = w->repeat.walk;
		return true;
	}
	return false;
}
