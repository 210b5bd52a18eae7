/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/scan_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

void scan_rows_release(struct scan_rows *w)
{
	free(w->rows);
	free(w->places);
	free(w->again);
	memset(w, 0, sizeof(*w));
}

int scan_rows_copy(struct scan_rows *to, const struct scan_rows *from)
{
	scan_rows_release(to);
	if (array_reserve(&to->places, &to->cap_places, from->cap_places) ||
	    array_reserve(&to->rows, &to->cap_rows, from->nr_rows)) {
		scan_rows_release(to);
		return -ENOMEM;
	}
	if (from->cap_places)
		memcpy(to->places, from->places, from->cap_places * sizeof(*to->places));
	if (from->nr_rows)
		memcpy(to->rows, from->rows, from->nr_rows * sizeof(*to->rows));
	to->nr_rows = from->nr_rows;
	return 0;
}

/* NULL: it had none. */
static struct rec_sample *row_of(const struct scan_rows *w, uint32_t thread)
{
	uint32_t place = thread < w->cap_places ? w->places[thread] : 0;

	return place ? &w->rows[place - 1] : NULL;
}

int scan_rows_add(struct scan_rows *w, const struct rec_sample *s)
{
	struct rec_sample *row;

	if (!s->scan || !s->thread)
		return 0;
	row = row_of(w, s->thread);
	if (!row) {
		if (array_reserve(&w->places, &w->cap_places, (size_t)s->thread + 1))
			return -ENOMEM;
		row = array_push(&w->rows, &w->nr_rows, &w->cap_rows);
		if (!row)
			return -ENOMEM;
		w->places[s->thread] = (uint32_t)w->nr_rows;
	}
	*row = *s;
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
	size_t known = t->cap_in_scan > first ? t->cap_in_scan - first : 0;

	for (uint32_t i = 0; i < n && i < known; i++)
		if (t->in_scan[first + i])
			return i;
	return n;
}

bool scan_rows_next(struct scan_rows *w, const struct id_checker *t, struct rec_sample *s)
{
	while (w->run < w->repeat.nr_runs) {
		const struct rec_run *run = &w->repeat.runs[w->run];
		uint32_t thread = run->thread + w->done, left = run->nr - w->done;
		uint32_t missing = count_missing(t, thread, left);
		const struct rec_sample *row;

		w->left_out += missing;
		if (missing == left) {
			w->run++;
			w->done = 0;
			continue;
		}
		w->done += missing + 1;
		row = row_of(w, thread + missing);
		if (row) {
			*s = *row;
			s->time_ns = w->repeat.time_ns;
			s->scan = w->repeat.scan;
			return true;
		}
		w->left_out++;		/* in_scan is set, but its chunk was left early */
	}
	return false;
}

/*
 * The part of a run that may have rows: id_checker knows of none beyond its array, and a run may
 * reach far behind the last thread.
 */
static uint32_t known_part(const struct id_checker *t, const struct rec_run *run)
{
	size_t known = t->cap_in_scan > run->thread ? t->cap_in_scan - run->thread : 0;

	return run->nr < known ? run->nr : (uint32_t)known;
}

int scan_rows_sum(struct scan_rows *w, const struct id_checker *t)
{
	if (array_reserve(&w->again, &w->cap_again, t->cap_in_scan))
		return -ENOMEM;
	for (; w->run < w->repeat.nr_runs; w->run++) {
		const struct rec_run *run = &w->repeat.runs[w->run];
		uint32_t nr = known_part(t, run), missing = run->nr - nr;
		const uint8_t *has_row = t->in_scan + run->thread;
		uint32_t *again = w->again + run->thread;

		for (uint32_t i = 0; i < nr; i++) {
			again[i] += has_row[i] != 0;
			missing += !has_row[i];
		}
		w->left_out += missing;
		if (nr && run->thread < w->drained)
			w->drained = run->thread;
	}
	w->done = 0;
	return 0;
}

void scan_rows_count(const struct scan_rows *w, const struct id_checker *t, uint64_t *rows,
		     uint64_t *runnable)
{
	*rows = *runnable = 0;
	for (uint32_t k = 0; k < w->repeat.nr_runs; k++) {
		const struct rec_run *run = &w->repeat.runs[k];
		uint32_t nr = known_part(t, run);
		const uint8_t *last = t->in_scan + run->thread;

		for (uint32_t i = 0; i < nr; i++) {
			*rows += last[i] != ROW_NONE;
			*runnable += last[i] == ROW_RUNS;
		}
	}
}

bool scan_rows_any(const struct scan_rows *w, const struct id_checker *t, const uint8_t *wanted,
		   size_t nr)
{
	for (uint32_t k = 0; k < w->repeat.nr_runs; k++) {
		const struct rec_run *run = &w->repeat.runs[k];
		size_t behind = (size_t)run->thread + known_part(t, run);

		for (size_t i = run->thread; i < behind && i < nr; i++)
			if (wanted[i] && t->in_scan[i])
				return true;
	}
	return false;
}

uint32_t scan_rows_take(struct scan_rows *w, uint32_t thread, struct rec_sample *s)
{
	uint32_t nr = thread < w->cap_again ? w->again[thread] : 0;

	const struct rec_sample *row = nr ? row_of(w, thread) : NULL;

	if (!row)
		return 0;
	*s = *row;
	w->again[thread] = 0;
	return nr;
}

bool scan_rows_drain(struct scan_rows *w, struct rec_sample *s, uint32_t *nr)
{
	for (; w->drained < w->cap_again; w->drained++) {
		*nr = scan_rows_take(w, (uint32_t)w->drained, s);
		if (*nr)
			return true;
	}
	return false;
}
